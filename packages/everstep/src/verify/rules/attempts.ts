import { errorLimits } from "../../model/limits.ts";
import type { StepRecord } from "../../model/step.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** Attempts are counted strictly (INV-10), and a completed step's body does not run again (INV-8). */
export function* attemptRules({ record, steps }: RunFacts): Generator<Found> {
  for (const step of steps) {
    const messages = step.type === "do" ? doStep(step) : waitStep(step);
    for (const message of messages) yield { invariant: "INV-10", message };
  }
  const starts = new Map<string, number>();
  for (const step of steps)
    if (step.type === "do" && step.status === "completed") starts.set(step.key, step.starts);
  for (const { key, start } of record.begun) {
    // A runner names a start until it has heard that what came of it is recorded.
    if (start <= (starts.get(key) ?? start)) continue;
    yield {
      invariant: "INV-8",
      message: `Step "${key}" is completed, but its body began again (start ${start}).`,
    };
  }
}

function* doStep(step: StepRecord): Generator<string> {
  const { key, attempts, starts, maxAttempts, errors, status } = step;
  if (maxAttempts !== null && attempts > maxAttempts) {
    yield `Step "${key}" has ${attempts} attempts; it may have ${maxAttempts}.`;
  }
  if (attempts > starts) yield `Step "${key}" has ${attempts} attempts, but its body began ${starts} times.`;
  if (status === "completed" && attempts < 1) yield `Step "${key}" is completed without an attempt.`;
  const failed = Math.max(0, attempts - (status === "completed" ? 1 : 0));
  if (errors.length !== Math.min(failed, errorLimits.attemptsKept)) {
    yield `Step "${key}" has ${errors.length} errors for ${failed} failed attempts.`;
  }
  let last = 0;
  for (const { attempt } of errors) {
    if (attempt <= last || attempt > starts) {
      yield `Step "${key}" has an error of start ${attempt} after one of start ${last}, with ${starts} starts.`;
    }
    last = attempt;
  }
}

function* waitStep({ key, type, attempts, starts, errors }: StepRecord): Generator<string> {
  if (attempts === 0 && starts === 0 && errors.length === 0) return;
  yield `Step "${key}" is a ${type} and has no body, but ${attempts} attempts, ${starts} starts and ${errors.length} errors.`;
}
