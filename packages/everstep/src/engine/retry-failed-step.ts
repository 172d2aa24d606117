import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { StepRecord, WaitingStep } from "../model/step.ts";
import type { StoredError } from "../model/value.ts";
import { type ChangePlan, planChange } from "./lifecycle.ts";

/**
 * One more try for the step that failed the run: the latest errored top-level step, if nothing completed after it and
 * no other failed beside it. What ran inside it is forgotten, the events it took are there again.
 */
export function planRetryFailedStep(
  ref: InstanceRef,
  steps: readonly StepRecord[],
  error: StoredError | null,
  delayMs: number,
  now: number,
): ChangePlan {
  const dueAt = now + delayMs;
  if (givenUpCodes.has(error?.code ?? "")) {
    return planChange(ref, ["errored"], {
      kind: "retryStep",
      reopen: null,
      drop: [],
      releaseEventsOf: [],
      dueAt,
    });
  }
  const top = steps.filter((step) => step.parentKey === null);
  const failed = top.filter((step) => step.status === "errored");
  const step = failed.at(-1);
  if (
    !step ||
    failed.length > 1 ||
    top.some((other) => other.index > step.index && other.status === "completed")
  ) {
    throw new EverstepError(
      "FAILED_STEP_NOT_RETRYABLE",
      failed.length > 1
        ? "Several steps of this run failed; retry one is not possible. Use restart({ from }) instead."
        : "No failed step of this run can be retried on its own. Use restart() or restart({ from }) instead.",
    );
  }
  const inside = stepsInside(steps, step.key);
  return planChange(ref, ["errored"], {
    kind: "retryStep",
    reopen: reopened(step, dueAt),
    drop: inside.map((other) => other.index),
    releaseEventsOf: inside.map((other) => other.key),
    dueAt,
  });
}

/** Not the workflow failed but what ran it: such a run may go on where it was. */
const givenUpCodes: ReadonlySet<string> = new Set([
  "CRASH_LOOP",
  "HISTORY_UNREADABLE",
  "INTERRUPTED_BY_RESTART",
]);

/** Steps nested at any depth in another. Asked of their parents: a name may look like any key, an index say anything. */
function stepsInside(steps: readonly StepRecord[], key: string): readonly StepRecord[] {
  const children = steps.filter(({ parentKey }) => parentKey === key);
  return children.flatMap((child) => [child, ...stepsInside(steps, child.key)]);
}

function reopened(step: StepRecord, dueAt: number): WaitingStep {
  const { index, key, name, count, type, parentKey, depth, createdAt, attempts, starts, timeoutMs, errors } =
    step;
  const { eventType, topic, maxAttempts } = step;
  const identity = { index, key, name, count, type, parentKey, depth, createdAt };
  const facts = { attempts, starts, timeoutMs, errors, eventType, topic };
  if (type === "do") {
    const more = maxAttempts === null ? null : attempts + 1;
    return { ...identity, ...facts, maxAttempts: more, status: "waiting", waitsFor: "retry", wakeAt: dueAt };
  }
  // A wait that timed out gets a window as long as its first one.
  const windowMs = Math.max(0, (step.wakeAt ?? createdAt) - createdAt);
  const waitsFor = type === "sleep" ? "timer" : "event";
  return { ...identity, ...facts, maxAttempts, status: "waiting", waitsFor, wakeAt: dueAt + windowMs };
}
