/** What people look at first: who runs, how much gets done, how it all is, what they may do. */
import {
  flag,
  type Infer,
  instant,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";
import { storeWarnings } from "./service.ts";
import { counts } from "./workflows.ts";

const runnerShape = object({
  /** The owner of its leases. */
  id: text(),
  /** Host and process, as people know them; null where there is none. */
  host: nullable(text()),
  pid: nullable(whole()),
  startedAt: instant,
  seenAt: instant,
  stoppedAt: nullable(instant),
  /** `silent`: it did not say that it stopped, and was not heard of for longer than three beats. */
  state: oneOf(["running", "silent", "stopped"]),
  /** It is the one of this app, or of the process that answers. */
  isHere: flag,
  concurrency: whole(),
  /** Turns in progress. */
  turns: whole(),
  workflows: list(text()),
});
/** A runner on this store, in whichever process. */
export interface WireRunner extends Infer<typeof runnerShape> {}
/** A runner on this store, in whichever process. */
export interface RunnerView extends ViewOf<typeof runnerShape> {}
const runner: Schema<WireRunner, RunnerView> = runnerShape;

export const runners = object({ runners: list(runner) });
export interface WireRunners extends Infer<typeof runners> {}

const bucketShape = object({
  /** When it began. */
  at: instant,
  complete: whole(),
  errored: whole(),
  terminated: whole(),
  steps: whole(),
  failedAttempts: whole(),
});
/** What was done in one stretch of time, `bucketMs` long. */
export interface WireActivityBucket extends Infer<typeof bucketShape> {}
/** What was done in one stretch of time, `bucketMs` long. */
export interface ActivityBucket extends ViewOf<typeof bucketShape> {}
const bucket: Schema<WireActivityBucket, ActivityBucket> = bucketShape;

export const activity = object({
  from: instant,
  /** The last bucket goes on until then: it is not full yet. */
  to: instant,
  bucketMs: whole(1),
  /** Oldest first, without gaps. */
  buckets: list(bucket),
});
/** What runners got done over time. */
export interface WireActivity extends Infer<typeof activity> {}
/** What runners got done over time. */
export interface ActivityView extends ViewOf<typeof activity> {}

const guaranteeShape = object({ name: text(), has: flag, why: optional(text()) });
export interface WireGuarantee extends Infer<typeof guaranteeShape> {}
const guarantee: Schema<WireGuarantee> = guaranteeShape;

const counted = { count: whole(), isMore: flag } as const;

const oldestShape = object({ workflowName: text(), instanceId: text(), createdAt: instant });
export interface WireOldest extends Infer<typeof oldestShape> {}
const oldest: Schema<WireOldest, unknown> = oldestShape;

export const overview = object({
  /** Of the library that answers. */
  version: text(),
  /** When this was put together. */
  now: instant,
  counts,
  /** Of those that are active: their start is still to come. */
  scheduled: object(counted),
  deadLetters: object(counted),
  /** Due, and taken by no runner. */
  overdue: object({ ...counted, oldestDueAt: nullable(instant) }),
  /** Attempts that are made again within the next hour. */
  retries: object({ ...counted, nextAt: nullable(instant) }),
  oldestWaiting: nullable(oldest),
  /** Of those that have begun, or should have. */
  oldestActive: nullable(oldest),
  store: object({
    name: text(),
    guarantees: list(guarantee),
    warnings: storeWarnings,
  }),
  /** Of the process that answers. */
  runner: object({ running: flag }),
  /** POST /_dev/kill is offered here. */
  mayKill: flag,
});
/** How it all is, at a glance. What is counted one by one is counted up to 1,000, and `isMore` says that there may be more. */
export interface WireOverview extends Infer<typeof overview> {}

export const access = object({
  instanceCreation: flag,
  management: flag,
  sendEvent: flag,
  /** What time it is for the engine, to compare times of instances with. */
  now: instant,
});
/** What whoever asks may do beside reading. */
export interface WireAccess extends Infer<typeof access> {}
