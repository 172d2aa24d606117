/** Workflows, and the topics that their instances wait on. */
import { instanceStatuses } from "../model/instance.ts";
import type { Limits } from "../model/limits.ts";
import { pageEnd } from "./page.ts";
import {
  amount,
  anything,
  flag,
  type Infer,
  instant,
  list,
  named,
  nullable,
  object,
  optional,
  record,
  recordOf,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";

export const workflows = object({ workflows: list(object({ name: text() })) });
export interface WireWorkflows extends Infer<typeof workflows> {}

const countsShape = recordOf(instanceStatuses, whole());
export type WireCounts = Infer<typeof countsShape>;
export const counts: Schema<WireCounts> = named("Counts", countsShape);

export const countsAnswer = object({ counts });
export interface WireCountsAnswer extends Infer<typeof countsAnswer> {}

const manifestFields = {
  name: text(),
  /** The name code uses for it: `app.workflows.<key>`. */
  key: text(),
  checksParams: flag,
  checksOutput: flag,
  concurrency: nullable(whole()),
} as const;

const manifestShape = object(manifestFields);
/** A registered workflow. */
export interface WorkflowManifest extends Infer<typeof manifestShape> {
  readonly limits: Limits;
}

export const workflow = object({
  ...manifestFields,
  /** JSON Schema of the params, where the workflow's own schema can tell it. */
  paramsSchema: optional(anything),
  limits: record(nullable(amount)),
  counts,
});
export interface WireWorkflow extends Infer<typeof workflow> {}

const waiterShape = object({
  workflowName: text(),
  instanceId: text(),
  runNumber: whole(1),
  stepKey: text(),
  topic: text(),
  deadlineAt: instant,
  /** Its event has come and it has not gone on yet: a publication does not reach it any more. */
  hasEvent: flag,
});
/** A wait on a topic. */
export interface WireWaiter extends Infer<typeof waiterShape> {}
/** A wait on a topic. */
export interface WaiterView extends ViewOf<typeof waiterShape> {}
const waiter: Schema<WireWaiter, WaiterView> = waiterShape;

export const waiters = object({ waiters: list(waiter), ...pageEnd });
export interface WireWaiters extends Infer<typeof waiters> {}

const topicShape = object({
  topic: text(),
  /** Waits that are open. */
  waiters: whole(),
});
/** A topic that instances wait on now. */
export interface TopicView extends ViewOf<typeof topicShape> {}
const topic: Schema<TopicView> = topicShape;

export const topics = object({ topics: list(topic), ...pageEnd });
/** Topics that somebody waits on now. */
export interface WireTopics extends Infer<typeof topics> {}

export const published = object({ waiters: whole() });
export interface WirePublished extends Infer<typeof published> {}
