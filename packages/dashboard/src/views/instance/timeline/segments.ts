/** What a step did and when, read from its record: attempts, waits between them, sleeps, waits for events. */
import type { WireRunningBody, WireStep } from "everstep/client";
import { timeOf } from "../../../words/time.ts";

export type SegmentKind =
  /** A body at work. */
  | "attempt"
  /** From a failed attempt to the next one. */
  | "retry"
  /** It had failed for good, and nobody had retried it yet. */
  | "errored"
  | "sleep"
  | "event"
  /** The wait was over, and no runner had taken the instance yet. */
  | "late"
  /** Attempts of which nothing is kept but that they were. */
  | "forgotten";

/** `open` goes on now; `left` went on when the instance ended. */
export type Outcome = "completed" | "failed" | "open" | "left";

export interface Segment {
  readonly kind: SegmentKind;
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
  readonly outcome: Outcome;
  /** When a wait is to be over, where that is not its end. */
  readonly due: number | null;
  /** Starts before this attempt that a crash cut off. */
  readonly cutOff: number;
}

export interface Told {
  /** Null while it runs for the first time. */
  readonly step: WireStep | null;
  /** Its body that is at work now. */
  readonly body: WireRunningBody | null;
  /** When the instance ended; null while it goes on. */
  readonly endedAt: number | null;
}

export function segmentsOf(told: Told): readonly Segment[] {
  const { step, body, endedAt } = told;
  if (step === null) return body === null ? [] : [runningSegment(body, 0, endedAt)];
  return step.type === "do" ? bodySegments(step, body, endedAt) : waitSegments(step, endedAt);
}

/** The same with an end: what goes on has come as far as now, and what is overdue since then is late. */
export function asOf(
  segments: readonly Segment[],
  now: number,
): readonly (Segment & { readonly to: number })[] {
  return segments.flatMap((segment) => {
    if (segment.to !== null) return [{ ...segment, to: segment.to }];
    const { kind, from, due } = segment;
    const to = Math.max(from, now);
    if (kind === "attempt" || due === null || to <= due) return [{ ...segment, to }];
    return [
      { ...segment, to: due, outcome: "completed" as const },
      { ...segment, kind: "late" as const, from: due, to, due: null },
    ];
  });
}

// ------------------------------------------------------------------------------------------------ bodies

/** An attempt whose end is recorded. When it began is not: at its time, or a little later. */
interface Ended {
  readonly at: number;
  readonly outcome: "completed" | "failed";
  readonly start: number;
  readonly retryAt: number | null;
  readonly reopenedAt: number | null;
}

type Gap = Pick<Ended, "at" | "retryAt" | "reopenedAt">;

/** From a failure to the next attempt: where it had failed for good, somebody retried it first. */
function gap({ at, retryAt, reopenedAt }: Gap, to: number): readonly Segment[] {
  // Records of earlier versions do not tell when that was; only that no other attempt was planned.
  const isFinal = reopenedAt !== null || retryAt === null;
  const retriedAt = isFinal ? Math.min(Math.max(at, reopenedAt ?? to), to) : at;
  return [
    { ...blank, kind: "errored" as const, from: at, to: retriedAt, outcome: "completed" as const },
    { ...blank, kind: "retry" as const, from: retriedAt, to, outcome: "completed" as const },
  ].filter((segment) => segment.to > segment.from);
}

function bodySegments(
  step: WireStep,
  body: WireRunningBody | null,
  endedAt: number | null,
): readonly Segment[] {
  const segments: Segment[] = [];
  const attempts = endedAttempts(step);
  const isAllKept = step.attempts <= attempts.length;
  let begin = timeOf(step.createdAt);
  let lastStart = isAllKept ? 0 : null;
  attempts.forEach((attempt, n) => {
    const { at, outcome, start, retryAt, reopenedAt } = attempt;
    if (n === 0 && !isAllKept) {
      segments.push({ ...blank, kind: "forgotten", from: begin, to: at, outcome: "failed" });
      begin = at;
    }
    const cutOff = lastStart === null ? 0 : Math.max(0, start - lastStart - 1);
    segments.push({ ...blank, kind: "attempt", from: Math.min(begin, at), to: at, outcome, cutOff });
    lastStart = start;
    begin = at;
    const next = attempts[n + 1];
    const nextBegin = next ? Math.min(retryAt ?? next.at, next.at) : body ? timeOf(body.startedAt) : null;
    if (nextBegin === null && reopenedAt !== null) {
      segments.push(...gap(attempt, reopenedAt));
      begin = Math.max(at, reopenedAt);
    }
    if (nextBegin === null || nextBegin <= at) return;
    segments.push(...gap(attempt, nextBegin));
    begin = nextBegin;
  });
  if (body) segments.push(runningSegment(body, lastStart, endedAt));
  else if (step.status === "waiting") {
    const due = timeOrNull(step.nextRetryAt);
    segments.push({ ...blank, kind: "retry", from: begin, ...openUntil(endedAt), due });
  }
  return segments;
}

function endedAttempts(step: WireStep): readonly Ended[] {
  const failed: Ended[] = step.errors.map(({ at, attempt, retryAt, reopenedAt }) => ({
    at: timeOf(at),
    outcome: "failed",
    start: attempt,
    retryAt: timeOrNull(retryAt),
    reopenedAt: timeOrNull(reopenedAt),
  }));
  const at = timeOrNull(step.settledAt);
  if (at === null) return failed;
  if (step.status === "completed") {
    const start = Math.max(1, step.starts);
    return [...failed, { at, outcome: "completed", start, retryAt: null, reopenedAt: null }];
  }
  // It failed without an attempt: a crash had cut it off, and it must not be repeated.
  if (failed.length > 0) return failed;
  return [{ at, outcome: "failed", start: step.starts + 1, retryAt: null, reopenedAt: null }];
}

function runningSegment(
  { start, startedAt }: WireRunningBody,
  lastStart: number | null,
  endedAt: number | null,
): Segment {
  const cutOff = lastStart === null ? 0 : Math.max(0, start - lastStart - 1);
  return { ...blank, kind: "attempt", from: timeOf(startedAt), ...openUntil(endedAt), cutOff };
}

// ------------------------------------------------------------------------------------------------ waits

function waitSegments(step: WireStep, endedAt: number | null): readonly Segment[] {
  const kind = step.type === "sleep" ? "sleep" : "event";
  const from = timeOf(step.createdAt);
  const due = timeOrNull(step.wakeAt);
  const to = timeOrNull(step.settledAt);
  if (to === null) return [{ ...blank, kind, from, ...openUntil(endedAt), due }];
  const outcome = step.status === "errored" ? "failed" : "completed";
  if (due !== null && to > due && due >= from) {
    return [
      { ...blank, kind, from, to: due, outcome },
      { ...blank, kind: "late", from: due, to, outcome: "completed" },
    ];
  }
  // A sleep that somebody ended early was to last longer; a wait whose event came is just over.
  return [{ ...blank, kind, from, to, outcome, due: kind === "sleep" ? due : null }];
}

const blank = { due: null, cutOff: 0 } as const;

function openUntil(endedAt: number | null): Pick<Segment, "to" | "outcome"> {
  return endedAt === null ? { to: null, outcome: "open" } : { to: endedAt, outcome: "left" };
}

function timeOrNull(iso: string | null | undefined): number | null {
  return iso ? timeOf(iso) : null;
}
