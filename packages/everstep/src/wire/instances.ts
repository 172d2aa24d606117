/** Instances: how one is, everything about it, pages of them, and why one is not moving. */
import {
  type InstanceRef,
  instanceStatuses,
  type TerminationReason,
  terminationSources,
} from "../model/instance.ts";
import { pageEnd } from "./page.ts";
import {
  anything,
  flag,
  type Infer,
  instant,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";
import { error, runningBody, step } from "./steps.ts";

export const instanceStatus = oneOf(instanceStatuses);

const refShape = object({ workflowName: text(), instanceId: text() });
export interface WireRef extends Infer<typeof refShape> {}
const ref: Schema<WireRef, InstanceRef> = refShape;

const statusShape = object({
  status: instanceStatus,
  output: optional(anything),
  error: optional(error),
});
/** `output` is there when complete, `error` when errored. */
export interface WireStatus extends Infer<typeof statusShape> {}
export const status: Schema<WireStatus> = named("InstanceStatus", statusShape);

const terminationReason: Schema<TerminationReason> = object({
  source: oneOf(terminationSources),
  message: nullable(text()),
  by: optional(text()),
});

const factFields = {
  createdAt: instant,
  updatedAt: instant,
  startedAt: nullable(instant),
  completedAt: nullable(instant),
  /** When the run wants its next turn. */
  dueAt: nullable(instant),
  deadlineAt: nullable(instant),
  retentionUntil: nullable(instant),
  parent: nullable(ref),
  terminationReason: nullable(terminationReason),
  /** A runner is at it right now. */
  executing: flag,
  /** Due, and no runner has taken it: all are busy, a concurrency cap holds it, or none knows the workflow. */
  queued: flag,
  deadLetter: flag,
} as const;

const factsShape = object(factFields);
export interface InstanceFacts extends InstanceRef, ViewOf<typeof factsShape> {
  readonly id: string;
  readonly runNumber: number;
  readonly params: unknown;
}

const metaShape = object({
  workflowName: text(),
  runNumber: whole(1),
  /** Left out of lists that are asked for in brief. */
  params: optional(anything),
  ...factFields,
  currentStep: optional(step),
  /** Of one instance alone: every body at work, where there are any. */
  running: optional(list(runningBody)),
});
export interface WireMeta extends Infer<typeof metaShape> {}
export interface MetaView extends ViewOf<typeof metaShape> {}
export const meta: Schema<WireMeta, MetaView> = named("InstanceMeta", metaShape);

const instanceFields = { id: text(), details: status } as const;

const instanceShape = object(instanceFields);
export interface WireInstance extends Infer<typeof instanceShape> {}
export const instance: Schema<WireInstance> = named("Instance", instanceShape);

const withMetaShape = object({ ...instanceFields, meta });
export interface WireInstanceWithMeta extends Infer<typeof withMetaShape> {}
export const instanceWithMeta: Schema<WireInstanceWithMeta, unknown> = named(
  "InstanceWithMeta",
  withMetaShape,
);

const atWork = {
  steps: list(step),
  /** Bodies at work now. */
  running: list(runningBody),
} as const;
export const stepsAndBodies = object(atWork);

export const instanceWithSteps = object({ ...instanceFields, meta, ...atWork });
/** What a stream of an instance sends. */
export interface InstanceWithSteps extends Infer<typeof instanceWithSteps> {}

const listedShape = object({ ...instanceFields, meta: optional(meta) });
/** `meta` is there if it was asked for. */
export interface WireListedInstance extends Infer<typeof listedShape> {}
const listed: Schema<WireListedInstance, unknown> = listedShape;

export const instances = object({ instances: list(listed), ...pageEnd });
export interface WireInstances extends Infer<typeof instances> {}

export const instancesWithMeta = object({ instances: list(instanceWithMeta), ...pageEnd });
/** Lists over all workflows always have `meta`, which says whose instance it is. */
export interface WireInstancesWithMeta extends Infer<typeof instancesWithMeta> {}

export const runs = object({ runs: list(instanceWithMeta) });
export interface WireRuns extends Infer<typeof runs> {}

export const created = object({ instances: list(instance) });
export interface WireCreated extends Infer<typeof created> {}

export const restartedOrCreated = object({
  outcome: oneOf(["created", "restarted", "unchanged"]),
  ...instanceFields,
});
export interface WireRestartOrCreate extends Infer<typeof restartedOrCreated> {}

export const sent = object({ status });
export interface WireSent extends Infer<typeof sent> {}

const lastActionShape = object({
  /** As the API calls it: `pause`, `retryFailedStep`. */
  action: text(),
  /** null where nobody knows who it was. */
  actor: nullable(text()),
  /** One sentence: `Paused by ann.`, or `Paused.` */
  text: text(),
  at: instant,
});
/** What a person did to a run. */
export interface WireLastAction extends Infer<typeof lastActionShape> {}
/** What a person did to a run. */
export interface LastActionView extends ViewOf<typeof lastActionShape> {}
const lastAction: Schema<WireLastAction, LastActionView> = lastActionShape;

const waitShape = object({ stepName: text(), eventType: optional(text()), topic: optional(text()) });
/** A wait of one step: for an event or a topic, if one is named, else for a time. */
export interface WhyWait extends Infer<typeof waitShape> {}
const wait: Schema<WhyWait> = waitShape;

export const why = object({
  /** Stable, for programs: `waiting-for-event`, `no-runner`. */
  reason: text(),
  /** One sentence. */
  answer: text(),
  /** What to do about it; null when nothing needs to be done. */
  advice: nullable(text()),
  status: instanceStatus,
  stepKey: optional(text()),
  /** Of several waits the one that ends first. */
  waitsFor: optional(wait),
  /** When it goes on by itself. */
  until: optional(instant),
  /** An errored one: `retryFailedStep` would be accepted. Then `stepKey` is the step it is for, if it is for one. */
  mayRetry: optional(flag),
  /** What a person did to this run last, if that is among the newest lines of its log. */
  lastAction: optional(lastAction),
  /** What the engine itself has logged of this run, newest first, at most 3: an event of it that reached nobody. */
  warnings: optional(list(text())),
});
/** One answer to "why is this instance not moving?". */
export interface WireWhy extends Infer<typeof why> {}
