/** Records of steps for tests: times are milliseconds since the beginning of a day. */
import type { WireAttemptError, WireMeta, WireRunningBody, WireStep } from "everstep/client";

const day = Date.UTC(2026, 0, 1);

export function at(ms: number): number {
  return day + ms;
}

function iso(ms: number): string {
  return new Date(at(ms)).toISOString();
}

export type SampleStep = Partial<
  Omit<WireStep, "createdAt" | "settledAt" | "wakeAt" | "nextRetryAt" | "errors">
> & {
  readonly from?: number;
  readonly to?: number | null;
  readonly wake?: number;
  readonly retry?: number;
  readonly failed?: readonly {
    readonly at: number;
    readonly retry?: number;
    readonly start?: number;
    readonly reopened?: number;
  }[];
};

export function sampleStep(name: string, given: SampleStep = {}): WireStep {
  const { from = 0, to = null, wake, retry, failed = [], ...more } = given;
  const errors = failed.map(
    (each, n): WireAttemptError => ({
      name: "Error",
      message: `failure ${n + 1}`,
      attempt: each.start ?? n + 1,
      at: iso(each.at),
      retryAt: each.retry === undefined ? null : iso(each.retry),
      ...(each.reopened === undefined ? {} : { reopenedAt: iso(each.reopened) }),
    }),
  );
  const status = more.status ?? (to === null ? "waiting" : "completed");
  const attempts = errors.length + (status === "completed" && (more.type ?? "do") === "do" ? 1 : 0);
  return {
    stepKey: name,
    name,
    index: 0,
    type: "do",
    attempts,
    starts: more.attempts ?? attempts,
    maxAttempts: 6,
    timeoutMs: null,
    waitEventType: null,
    topic: null,
    parentKey: null,
    depth: 0,
    ...more,
    status,
    errors,
    createdAt: iso(from),
    settledAt: to === null ? null : iso(to),
    wakeAt: wake === undefined ? null : iso(wake),
    nextRetryAt: retry === undefined ? null : iso(retry),
  };
}

export function sampleBody(stepKey: string, from: number, start = 1): WireRunningBody {
  return { stepKey, name: stepKey, start, startedAt: iso(from) };
}

export function sampleMeta(
  given: {
    readonly created?: number;
    readonly started?: number | null;
    readonly ended?: number | null;
    readonly due?: number | null;
    readonly runNumber?: number;
  } = {},
): WireMeta {
  const { created = 0, started = 0, ended = null, due = null, runNumber = 1 } = given;
  return {
    workflowName: "order",
    runNumber,
    createdAt: iso(created),
    updatedAt: iso(ended ?? started ?? created),
    startedAt: started === null ? null : iso(started),
    completedAt: ended === null ? null : iso(ended),
    dueAt: due === null ? null : iso(due),
    deadlineAt: null,
    retentionUntil: null,
    parent: null,
    terminationReason: null,
    executing: false,
    queued: false,
    deadLetter: false,
  };
}
