import type { StepRecord } from "../model/step.ts";
import type { RunFacts } from "./run-facts.ts";

/**
 * What a retry of the failed step may have taken back between two looks: it moves the token, opens the errored step
 * again and forgets what was recorded inside it. A step inside a completed one is safe.
 */
export function mayBeForgotten(before: RunFacts, after: RunFacts): (key: string) => boolean {
  if (after.record.token === before.record.token) return () => false;
  const byKey = new Map(before.steps.map((step) => [step.key, step]));
  return (key) => {
    const step = byKey.get(key);
    return step !== undefined && step.parentKey !== null && !isSafe(step, byKey);
  };
}

/** The outermost step it is in is completed. One that is not recorded yet may still fail. */
function isSafe(step: StepRecord, byKey: ReadonlyMap<string, StepRecord>): boolean {
  let outer: StepRecord | undefined = step;
  const seen = new Set<string>();
  while (outer !== undefined && outer.parentKey !== null && !seen.has(outer.key)) {
    seen.add(outer.key);
    outer = byKey.get(outer.parentKey);
  }
  return outer?.parentKey === null && outer.status === "completed";
}
