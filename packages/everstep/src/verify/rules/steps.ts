import type { StepRecord, StepType, WaitsFor } from "../../model/step.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** One record per step (INV-7), and what each says of itself fits together (INV-15). */
export function* stepRules({ steps }: RunFacts): Generator<Found> {
  yield* repeated(steps, "INV-7", "key", (step) => step.key);
  yield* repeated(steps, "INV-15", "index", (step) => step.index);
  const settled = steps.filter((step) => step.status !== "waiting");
  yield* repeated(settled, "INV-17", "place in the order of hand-over", (step) => step.settledIndex);
  const byKey = new Map(steps.map((step) => [step.key, step]));
  for (const step of steps) {
    for (const message of contradictions(step, byKey)) yield { invariant: "INV-15", message };
  }
}

function* repeated<Step extends StepRecord>(
  steps: readonly Step[],
  invariant: string,
  what: string,
  markOf: (step: Step) => string | number,
): Generator<Found> {
  const first = new Map<string | number, Step>();
  for (const step of steps) {
    const mark = markOf(step);
    const other = first.get(mark);
    if (other === undefined) first.set(mark, step);
    else {
      const message = `Steps "${other.key}" (index ${other.index}) and "${step.key}" (index ${step.index}) have the same ${what}, ${mark}.`;
      yield { invariant, message };
    }
  }
}

const waitsForOf: Record<StepType, WaitsFor> = { do: "retry", sleep: "timer", waitForEvent: "event" };

function* contradictions(step: StepRecord, byKey: ReadonlyMap<string, StepRecord>): Generator<string> {
  const { key, type, depth, parentKey } = step;
  if (step.count < 1 || step.index < 0)
    yield `Step "${key}" has count ${step.count} and index ${step.index}.`;
  if (step.status !== "waiting" && step.settledIndex < 0) {
    yield `Step "${key}" has place ${step.settledIndex} in the order of hand-over.`;
  }
  if (step.status === "waiting" && step.waitsFor !== waitsForOf[type]) {
    yield `Step "${key}" is a ${type} that waits for a ${step.waitsFor}.`;
  }
  if (type === "waitForEvent" && (step.eventType === null) === (step.topic === null)) {
    yield `Step "${key}" waits for ${step.topic === null ? "neither a type nor a topic" : "both a type and a topic"}.`;
  }
  if (type !== "do" && step.wakeAt === null) yield `Step "${key}" is a ${type} without a time of its end.`;
  // The outer step may be unrecorded: its body is running, or was cut off.
  const parent = parentKey === null ? undefined : byKey.get(parentKey);
  const expected = parent === undefined ? depth : parent.depth + 1;
  if (depth !== expected || (depth === 0) !== (parentKey === null)) {
    yield `Step "${key}" is at depth ${depth}, but its outer step is ${parentKey === null ? "none" : `"${parentKey}"`}.`;
  }
  if (parent?.type === "sleep") yield `Step "${key}" is inside "${parent.key}", which is a sleep.`;
}
