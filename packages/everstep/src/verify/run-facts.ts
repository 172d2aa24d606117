import type { EventRecord } from "../model/event.ts";
import type { InstanceRecord } from "../model/instance.ts";
import type { StepRecord, WaitingStep } from "../model/step.ts";

/** One look at one run: what all rules judge. */
export interface RunFacts {
  readonly record: InstanceRecord;
  /** No later run of the instance has begun. */
  readonly isCurrent: boolean;
  readonly steps: readonly StepRecord[];
  /** Without events of the engine itself. */
  readonly events: readonly EventRecord[];
}

export function openWaits(facts: RunFacts): readonly WaitingStep[] {
  return facts.steps.filter((step) => step.status === "waiting");
}

/** A wait inside a body belongs to that body: while the outer step waits for its next attempt, nobody asks for it. */
export function isTopLevel(step: StepRecord): boolean {
  return step.parentKey === null;
}
