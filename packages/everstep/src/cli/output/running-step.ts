/** The step that is at work now, which has no record before it came to something; and what crashes left of a step. */
import type { WireStep } from "../../http/wire.ts";

export function withRunning(steps: readonly WireStep[], current: WireStep | undefined): readonly WireStep[] {
  if (current?.status !== "running") return steps;
  const others = steps.filter(({ stepKey }) => stepKey !== current.stepKey);
  // One that is new has no place in the order yet.
  if (current.index < 0) return [...others, current];
  return [...others, current].sort((a, b) => a.index - b.index);
}

/** "cut off twice": starts that came to no end, because the process died. */
export function cutOffText({ type, status, starts, attempts }: WireStep): string {
  if (type !== "do") return "";
  const count = starts - attempts - (status === "running" ? 1 : 0);
  // A server of an earlier version does not count starts.
  if (!(count > 0)) return "";
  return `, cut off ${count === 1 ? "once" : count === 2 ? "twice" : `${count} times`}`;
}
