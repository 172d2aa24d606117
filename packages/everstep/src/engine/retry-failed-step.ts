import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { timeMax } from "../model/limits.ts";
import type { ErroredStep, SettledStep, StepRecord, WaitingStep } from "../model/step.ts";
import type { StoredError } from "../model/value.ts";
import { type ChangePlan, planChange } from "./lifecycle.ts";

/**
 * One more try for the step that failed the run. What ran inside it is forgotten, the events it took are there again. A run
 * that was given up goes on where it was.
 */
export function planRetryFailedStep(
  ref: InstanceRef,
  steps: readonly StepRecord[],
  error: StoredError | null,
  delayMs: number,
  now: number,
): ChangePlan {
  const retry = retryOf(steps, error);
  if (retry.kind === "none") throw new EverstepError("FAILED_STEP_NOT_RETRYABLE", retry.because);
  const { step } = retry;
  const inside = step ? stepsInside(steps, step.key) : [];
  const dueAt = now + delayMs;
  return planChange(ref, ["errored"], {
    kind: "retryStep",
    reopen: step ? reopened(step, dueAt, now) : null,
    drop: inside.map((other) => other.index),
    releaseEventsOf: inside.map((other) => other.key),
    dueAt,
  });
}

/** What a retry of an errored run would do. */
export type Retry =
  /** Without a step the run goes on where it was. */
  | { readonly kind: "possible"; readonly step: ErroredStep | null }
  | { readonly kind: "none"; readonly because: string };

/**
 * The step that failed the run is the one whose error the run ended with, by itself or as a cause; where that says nothing,
 * the one that failed last. Failures before it were caught, and stay. It cannot be tried again once something was recorded
 * that may have followed from its failure.
 */
export function retryOf(steps: readonly StepRecord[], error: StoredError | null): Retry {
  if (givenUpCodes.has(error?.code ?? "")) return { kind: "possible", step: null };
  const top = steps.filter(
    (step): step is SettledStep => step.parentKey === null && step.status !== "waiting",
  );
  const failed = top.filter(isErrored).sort((a, b) => a.settledIndex - b.settledIndex);
  const culprit = failed.findLast((step) => isOrCaused(error, step.error));
  const step = culprit ?? failed.at(-1);
  if (!step)
    return none("No step of this run has failed that could be retried. Restart the instance instead.");
  const later = top.filter(({ settledIndex }) => settledIndex > step.settledIndex);
  const beside = failed.filter(
    (other) => other !== step && (culprit ? later.includes(other) : overlaps(other, step)),
  );
  if (beside.length > 0) {
    return none(
      `Step "${step.name}" is not the only one that failed: so did "${beside[0]?.name}". ` +
        "Restart the instance instead, from its beginning or from a step.",
    );
  }
  const follower = later.find(({ index }) => index > step.index);
  if (!follower) return { kind: "possible", step };
  return none(
    `Step "${step.name}" failed, and "${follower.name}" ran after it, so it cannot be tried again on its own. ` +
      "Restart the instance instead, from its beginning or from a step.",
  );
}

function none(because: string): Retry {
  return { kind: "none", because };
}

function isErrored(step: SettledStep): step is ErroredStep {
  return step.status === "errored";
}

/** Not surely one after the other: they may have failed side by side, and one more try of the last would not help. */
function overlaps(other: ErroredStep, last: ErroredStep): boolean {
  return other.settledAt >= last.createdAt;
}

function isOrCaused(error: StoredError | null | undefined, of: StoredError): boolean {
  return error != null && (isSameError(error, of) || isOrCaused(error.cause, of));
}

function isSameError(one: StoredError, other: StoredError): boolean {
  return (
    one.name === other.name &&
    one.message === other.message &&
    one.code === other.code &&
    one.stack === other.stack &&
    one.properties?.json === other.properties?.json
  );
}

/** Not the workflow failed but what ran it: such a run may go on where it was. */
const givenUpCodes: ReadonlySet<string> = new Set([
  "CRASH_LOOP",
  "HISTORY_UNREADABLE",
  "INTERRUPTED_BY_RESTART",
  "NONDETERMINISM",
]);

/** Steps nested at any depth in another. Asked of their parents: a name may look like any key, an index say anything. */
function stepsInside(steps: readonly StepRecord[], key: string): readonly StepRecord[] {
  const children = steps.filter(({ parentKey }) => parentKey === key);
  return children.flatMap((child) => [child, ...stepsInside(steps, child.key)]);
}

function reopened(step: StepRecord, dueAt: number, now: number): WaitingStep {
  const { index, key, name, count, type, parentKey, depth, createdAt, attempts, starts, timeoutMs, errors } =
    step;
  const { eventType, topic, maxAttempts } = step;
  const identity = { index, key, name, count, type, parentKey, depth, createdAt };
  const facts = { attempts, starts, timeoutMs, errors, eventType, topic };
  if (type === "do") {
    const more = maxAttempts === null ? null : attempts + 1;
    // Its last attempt is not the last any more.
    const last = errors.slice(-1).map((error) => ({ ...error, retryAt: dueAt, reopenedAt: now }));
    const all = { ...facts, errors: [...errors.slice(0, -1), ...last] };
    return { ...identity, ...all, maxAttempts: more, status: "waiting", waitsFor: "retry", wakeAt: dueAt };
  }
  // A wait that timed out gets a window as long as its first one.
  const windowMs = Math.max(0, (step.wakeAt ?? createdAt) - createdAt);
  const waitsFor = type === "sleep" ? "timer" : "event";
  return {
    ...identity,
    ...facts,
    maxAttempts,
    status: "waiting",
    waitsFor,
    wakeAt: Math.min(dueAt + windowMs, timeMax),
  };
}
