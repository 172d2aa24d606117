/** How a runner is, by what was heard of it: a process that was killed says nothing of its end. */
import type { WireRunner } from "everstep/client";
import { timeOf } from "../../words/time.ts";

export type RunnerState = WireRunner["state"] | "unheard";

/** Runners tell of themselves every 15 seconds. */
const beatMs = 15_000;
const patienceMs = beatMs + 5000;

/** `clock` is the reader's, which may be wrong; then the runner that answers tells the time. */
export function runnerState(runner: WireRunner, all: readonly WireRunner[], clock: number): RunnerState {
  if (runner.state !== "running" || runner.isHere) return runner.state;
  return unheardMs(runner, all, clock) > patienceMs ? "unheard" : "running";
}

export function unheardMs(runner: WireRunner, all: readonly WireRunner[], clock: number): number {
  const here = all.find(({ isHere }) => isHere);
  const hereAt = here ? timeOf(here.seenAt) : clock;
  const isClockRight = Math.abs(clock - hereAt) <= patienceMs;
  return (isClockRight ? clock : hereAt) - timeOf(runner.seenAt);
}
