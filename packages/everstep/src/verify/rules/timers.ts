import type { SettledStep, StepRecord } from "../../model/step.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** Nothing that waits for a time takes effect before it (INV-28). Both times of a step were read from one clock. */
export function* timerRules({ steps }: RunFacts): Generator<Found> {
  const outer = new Set(steps.map((step) => step.parentKey));
  for (const step of steps) {
    if (step.status === "waiting" || step.wakeAt === null || step.settledAt >= step.wakeAt) continue;
    const found = early(step, outer.has(step.key));
    if (found !== null) yield { invariant: "INV-28", ...found };
  }
}

function early(step: SettledStep, hasInside: boolean): Omit<Found, "invariant"> | null {
  const when = `at ${step.settledAt}, before its time ${step.wakeAt}`;
  if (step.type === "sleep" && step.status === "completed") {
    return { message: `Step "${step.key}" was over ${when}.`, unless: "sleep-skipped" };
  }
  // An attempt may come to its end on a clock that was set meanwhile; retries that are used up wait for nothing.
  if (step.type === "do" && step.status === "completed") {
    return { message: `Step "${step.key}" was tried again ${when}.`, unless: "clock-set-back" };
  }
  // A hook may fail with the timeout of a wait inside it.
  if (isTimeout(step) && !hasInside) return { message: `Step "${step.key}" timed out ${when}.` };
  return null;
}

function isTimeout(step: StepRecord): boolean {
  return (
    step.type === "waitForEvent" && step.status === "errored" && step.error.code === "WAIT_FOR_EVENT_TIMEOUT"
  );
}
