/** The steps that are at work now, which have no record before they came to something; and what crashes left of a step. */
import type { WireMeta, WireStep } from "../../wire/index.ts";
import { runningStep } from "../../wire/running-step.ts";

export function withRunning(
  steps: readonly WireStep[],
  { running, currentStep }: Pick<WireMeta, "running" | "currentStep">,
): readonly WireStep[] {
  const keys = new Set(running?.map(({ stepKey }) => stepKey));
  if (running === undefined || keys.size === 0) return withCurrent(steps, currentStep);
  const known = new Map(steps.map((step) => [step.stepKey, step]));
  const atWork = running.map((body) => runningStep(body, known.get(body.stepKey)));
  return inOrder([...steps.filter(({ stepKey }) => !keys.has(stepKey)), ...atWork]);
}

/** A server of an earlier version names only one. */
function withCurrent(steps: readonly WireStep[], current: WireStep | undefined): readonly WireStep[] {
  if (current?.status !== "running") return steps;
  return inOrder([...steps.filter(({ stepKey }) => stepKey !== current.stepKey), current]);
}

/** One that is new has no place in the order yet. */
function inOrder(steps: readonly WireStep[]): readonly WireStep[] {
  const place = ({ index }: WireStep): number => (index < 0 ? Number.MAX_SAFE_INTEGER : index);
  return steps.toSorted((a, b) => place(a) - place(b));
}

/** "cut off twice": starts that came to no end, because the process died. */
export function cutOffText({ type, status, starts, attempts }: WireStep): string {
  if (type !== "do") return "";
  const count = starts - attempts - (status === "running" ? 1 : 0);
  // A server of an earlier version does not count starts.
  if (!(count > 0)) return "";
  return `, cut off ${count === 1 ? "once" : count === 2 ? "twice" : `${count} times`}`;
}
