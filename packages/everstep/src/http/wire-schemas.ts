/** The wire as schemas: what bodies are checked with, what the OpenAPI document says, what tests hold answers against. */
import { instanceStatuses } from "../model/instance.ts";
import { logLevels } from "../model/log-line.ts";
import type { Health } from "./health.ts";
import {
  amount,
  anything,
  either,
  exactly,
  flag,
  instant,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Schema,
  text,
  whole,
} from "./schema.ts";
import type * as wire from "./wire.ts";

const stepTypes = ["do", "sleep", "waitForEvent"] as const;
const status = oneOf(instanceStatuses);
const count = whole();

const ref = object({ workflowName: text(), instanceId: text() });

const error = object({
  name: text(),
  message: text(),
  code: optional(text()),
  details: optional(anything),
  stack: optional(text()),
});

export const problem: Schema<wire.WireProblem> = named(
  "Problem",
  object({
    error: object({
      code: text() as Schema<wire.WireProblem["error"]["code"]>,
      message: text(),
      details: optional(record(anything)),
      docs: text(),
    }),
  }),
);

export const statusView: Schema<wire.WireStatus> = named(
  "InstanceStatus",
  object({ status, output: optional(anything), error: optional(error) }),
);

export const step: Schema<wire.WireStep> = named(
  "Step",
  object({
    stepKey: text(),
    name: text(),
    index: whole(-1),
    type: oneOf(stepTypes),
    status: oneOf(["waiting", "completed", "errored", "running"]),
    attempts: count,
    starts: count,
    maxAttempts: nullable(count),
    timeoutMs: nullable(amount),
    nextRetryAt: nullable(instant),
    wakeAt: nullable(instant),
    waitEventType: nullable(text()),
    topic: nullable(text()),
    parentKey: nullable(text()),
    depth: count,
    result: optional(anything),
    sensitive: optional(flag),
    error: optional(error),
    errors: list(
      object({
        name: text(),
        message: text(),
        code: optional(text()),
        details: optional(anything),
        stack: optional(text()),
        attempt: count,
        at: instant,
        retryAt: nullable(instant),
      }),
    ),
    createdAt: instant,
    settledAt: nullable(instant),
  }),
);

export const meta: Schema<wire.WireMeta> = named(
  "InstanceMeta",
  object({
    workflowName: text(),
    runNumber: whole(1),
    params: optional(anything),
    createdAt: instant,
    updatedAt: instant,
    startedAt: nullable(instant),
    completedAt: nullable(instant),
    dueAt: nullable(instant),
    deadlineAt: nullable(instant),
    retentionUntil: nullable(instant),
    parent: nullable(ref),
    terminationReason: nullable(
      object({
        source: oneOf(["user", "maxRunDuration", "maxSuspendDuration", "deadline", "restarted"]),
        message: nullable(text()),
        by: optional(text()),
      }),
    ),
    executing: flag,
    queued: flag,
    deadLetter: flag,
    currentStep: optional(step),
    running: optional(list(object({ stepKey: text(), name: text(), start: whole(1), startedAt: instant }))),
  }),
);

export const instance: Schema<wire.WireInstance> = named(
  "Instance",
  object({ id: text(), details: statusView }),
);

export const instanceWithMeta: Schema<wire.WireInstanceWithMeta> = named(
  "InstanceWithMeta",
  object({ id: text(), details: statusView, meta }),
);

const pageEnd = { cursor: optional(text()), hasNextPage: flag } as const;

export const instances: Schema<wire.WireInstances> = object({
  instances: list(object({ id: text(), details: statusView, meta: optional(meta) })),
  ...pageEnd,
});

export const instancesWithMeta: Schema<wire.WireInstancesWithMeta> = object({
  instances: list(instanceWithMeta),
  ...pageEnd,
});

export const created: Schema<{ readonly instances: readonly wire.WireInstance[] }> = object({
  instances: list(instance),
});

export const event: Schema<wire.WireEvent> = named(
  "Event",
  object({
    id: text(),
    type: nullable(text()),
    topic: nullable(text()),
    payload: anything,
    createdAt: instant,
    deliveredAt: nullable(instant),
    consumedByStepKey: nullable(text()),
  }),
);

export const logLine: Schema<wire.WireLogLine> = named(
  "LogLine",
  object({
    id: text(),
    runNumber: whole(1),
    stepKey: nullable(text()),
    attempt: nullable(count),
    level: oneOf(logLevels),
    category: text(),
    message: text(),
    data: anything,
    isReplay: flag,
    createdAt: instant,
  }),
);

export const history: Schema<wire.WireHistory> = object({
  runNumber: whole(1),
  steps: list(step),
  stepsCursor: optional(text()),
  stepsHasNextPage: flag,
  events: list(event),
  eventsCursor: optional(text()),
  eventsHasNextPage: flag,
  logs: optional(list(logLine)),
  logsCursor: optional(text()),
  logsHasNextPage: optional(flag),
});

export const logs: Schema<wire.WireLogs> = object({ logs: list(logLine), ...pageEnd });
export const runs: Schema<wire.WireRuns> = object({ runs: list(instanceWithMeta) });
export const workflows: Schema<wire.WireWorkflows> = object({ workflows: list(object({ name: text() })) });

export const counts: Schema<wire.WireCounts> = named(
  "Counts",
  object({
    active: count,
    waiting: count,
    paused: count,
    complete: count,
    errored: count,
    terminated: count,
  }),
);

export const countsAnswer = object({ counts });

export const workflow: Schema<wire.WireWorkflow> = object({
  name: text(),
  key: text(),
  checksParams: flag,
  checksOutput: flag,
  concurrency: nullable(count),
  paramsSchema: optional(anything),
  limits: record(nullable(amount)),
  counts,
});

export const why: Schema<wire.WireWhy> = object({
  reason: text(),
  answer: text(),
  advice: nullable(text()),
  status,
  stepKey: optional(text()),
  waitsFor: optional(object({ stepName: text(), eventType: optional(text()), topic: optional(text()) })),
  until: optional(instant),
  mayRetry: optional(flag),
  lastAction: optional(object({ action: text(), actor: text(), text: text(), at: instant })),
  warnings: optional(list(text())),
});

export const waiters: Schema<wire.WireWaiters> = object({
  waiters: list(
    object({
      workflowName: text(),
      instanceId: text(),
      runNumber: whole(1),
      stepKey: text(),
      topic: text(),
      deadlineAt: instant,
    }),
  ),
  ...pageEnd,
});

export const topics: Schema<wire.WireTopics> = object({
  topics: list(object({ topic: text(), waiters: count })),
  ...pageEnd,
});

export const ok: Schema<wire.WireOk> = object({ ok: exactly(true) });
export const sent = object({ status: statusView });
export const published = object({ waiters: count });
export const processed = object({ processed: count });

export const restartedOrCreated: Schema<wire.WireRestartOrCreate> = object({
  outcome: oneOf(["created", "restarted", "unchanged"]),
  id: text(),
  details: statusView,
});

export const warnings = list(object({ code: text(), message: text() }));

export const health: Schema<Health> = object({
  ok: flag,
  store: object({
    reachable: flag,
    migrationsPending: nullable(count),
    warnings,
  }),
  runner: object({ running: flag }),
  workflows: list(text()),
});

/** What is found is told in words and facts that differ with what it is. */
const findings = list(record(anything));

export const verifyReport = object({
  ok: flag,
  checked: count,
  violations: findings,
  warnings: findings,
  warningsLeftOut: count,
  moving: count,
  unreadable: findings,
  after: optional(text()),
  complete: flag,
  summary: text(),
});

// ------------------------------------------------------------------------------------------------ bodies

const time = either(instant, whole());
const duration = either(text({ max: 64 }), whole());

const selector: Schema<wire.WireStepSelector> = either(
  text(),
  object({ name: text(), count: optional(whole(1)), type: optional(oneOf(stepTypes)) }),
);

const creation = {
  params: optional(anything),
  startAt: optional(time),
  deadline: optional(time),
  ttl: optional(duration),
} as const;

const ifExists = optional(oneOf(["error", "return"]));

export const createBody: Schema<wire.CreateBody> = object({ id: optional(text()), ...creation, ifExists });
export const createBatchBody: Schema<wire.CreateBatchBody> = object({
  instances: list(object({ id: text(), ...creation })),
});
export const nothing = object({});
export const terminateBody = object({ reason: optional(text()) });
export const restartBody: Schema<wire.RestartBody> = object({ from: optional(selector) });
export const rewindBody = object({ step: selector });
export const forkBody: Schema<wire.ForkBody> = object({ from: optional(selector), newId: optional(text()) });
export const retryBody = object({ delay: optional(duration) });
export const restartOrCreateBody: Schema<wire.RestartOrCreateBody> = object({
  ...creation,
  when: optional(object({ statuses: optional(list(status)), runNumber: optional(whole(1)) })),
});
export const sendEventBody: Schema<wire.SendEventBody> = object({
  type: text(),
  payload: optional(anything),
  id: optional(text()),
});
export const publishBody: Schema<wire.PublishBody> = object({
  payload: optional(anything),
  id: optional(text()),
});
export const tickBody: Schema<wire.TickBody> = object({
  maxInstances: optional(whole(1)),
  maxSteps: optional(whole(1)),
});
