/** The wire of what people look at first, as schemas: who runs, how much gets done, how it all is. */
import {
  flag,
  instant,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  whole,
} from "./schema.ts";
import type * as wire from "./wire.ts";
import { counts, warnings } from "./wire-schemas.ts";

const count = whole();

export const runners: Schema<wire.WireRunners> = object({
  runners: list(
    object({
      id: text(),
      host: nullable(text()),
      pid: nullable(count),
      startedAt: instant,
      seenAt: instant,
      stoppedAt: nullable(instant),
      state: oneOf(["running", "silent", "stopped"]),
      isHere: flag,
      concurrency: count,
      turns: count,
      workflows: list(text()),
    }),
  ),
});

export const activity: Schema<wire.WireActivity> = object({
  from: instant,
  to: instant,
  bucketMs: whole(1),
  buckets: list(
    object({
      at: instant,
      complete: count,
      errored: count,
      terminated: count,
      steps: count,
      failedAttempts: count,
    }),
  ),
});

const counted = { count, isMore: flag } as const;
const oldest = nullable(object({ workflowName: text(), instanceId: text(), createdAt: instant }));

export const overview: Schema<wire.WireOverview> = object({
  version: text(),
  now: instant,
  counts,
  deadLetters: object(counted),
  overdue: object({ ...counted, oldestDueAt: nullable(instant) }),
  retries: object({ ...counted, nextAt: nullable(instant) }),
  oldestWaiting: oldest,
  oldestActive: oldest,
  store: object({
    name: text(),
    guarantees: list(object({ name: text(), has: flag, why: optional(text()) })),
    warnings,
  }),
  runner: object({ running: flag }),
  mayKill: flag,
});

export const access: Schema<wire.WireAccess> = object({
  instanceCreation: flag,
  management: flag,
  sendEvent: flag,
  now: instant,
});
