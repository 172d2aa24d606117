/** Instances that did not come to their end, with their steps. */
import type { StepRecord } from "../../../model/step.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import { nameOf } from "./words.ts";

export function unfinishedWords(unfinished: readonly RunFacts[], isScenarioOver: boolean): string {
  const found = unfinished.map(
    ({ record, steps }) => `${nameOf(record)} is ${record.status}, with ${stepsInWords(steps)}`,
  );
  if (!isScenarioOver) found.push("the scenario waits for something that does not come");
  if (found.length === 0) found.push("it goes round in circles");
  return `long after the last thing went wrong, ${found.join("; ")}. Workflows that wait again and again without end need mustEnd: false.`;
}

function stepsInWords(steps: readonly StepRecord[]): string {
  if (steps.length === 0) return "no step recorded";
  const last = steps.toSorted((a, b) => a.index - b.index).slice(-10);
  const more = steps.length > last.length ? `${steps.length - last.length} steps before and ` : "";
  return `${more}${last.map((step) => `"${step.name}" ${stepWords(step)}`).join(", ")}`;
}

function stepWords(step: StepRecord): string {
  if (step.status !== "waiting") return step.status;
  if (step.waitsFor !== "event") return step.waitsFor === "timer" ? "asleep" : "to be tried again";
  return step.eventType === null
    ? `waiting for topic "${step.topic}"`
    : `waiting for event "${step.eventType}"`;
}
