/** How a runner is, by what was heard of it: a process that was killed says nothing of its end. */
import type { WireRunner } from "everstep/client";
import { timeOf } from "../../words/time.ts";

export type RunnerState =
  | WireRunner["state"]
  /** Its next beat is not due yet, but another was started in its place since the last one: as after a crash. */
  | "doubted"
  /** A beat is missing. */
  | "unheard"
  /** It was not heard of any more, and others do its work. */
  | "replaced";

/** Runners tell of themselves every 15 seconds. */
const beatMs = 15_000;
const patienceMs = beatMs + 5000;

/** A process that is gone and was not started again is missed for this long. */
const missedMs = 3_600_000;

/** `clock` is the reader's, which may be wrong; then the runner that answers tells the time. */
export function runnerState(runner: WireRunner, all: readonly WireRunner[], clock: number): RunnerState {
  if (runner.state === "silent" && isReplaced(runner, all, clock)) return "replaced";
  if (runner.state !== "running" || runner.isHere) return runner.state;
  if (unheardMs(runner, all, clock) > patienceMs) return "unheard";
  return all.some((other) => other !== runner && isInPlaceOf(other, runner)) ? "doubted" : "running";
}

/** Started on the same machine, with the same workflows, since the last word of the other. */
function isInPlaceOf(next: WireRunner, runner: WireRunner): boolean {
  const hasAll = runner.workflows.every((name) => next.workflows.includes(name));
  const isThere = next.state === "running" && next.host === runner.host && next.pid !== runner.pid;
  return isThere && hasAll && timeOf(next.startedAt) >= timeOf(runner.seenAt);
}

/** It does nothing any more, and nobody has to care. */
export function isOver(state: RunnerState): boolean {
  return state === "stopped" || state === "replaced";
}

/** Its leases ran out before it is called silent: whoever has its workflows goes on with its instances. */
function isReplaced(runner: WireRunner, all: readonly WireRunner[], clock: number): boolean {
  const heirs = all.filter(
    ({ state, workflows }) =>
      state === "running" && runner.workflows.every((name) => workflows.includes(name)),
  );
  if (heirs.length > 0 && unheardMs(runner, all, clock) > missedMs) return true;
  return heirs.some(({ startedAt }) => timeOf(startedAt) >= timeOf(runner.seenAt));
}

export function unheardMs(runner: WireRunner, all: readonly WireRunner[], clock: number): number {
  const here = all.find(({ isHere }) => isHere);
  const hereAt = here ? timeOf(here.seenAt) : clock;
  const isClockRight = Math.abs(clock - hereAt) <= patienceMs;
  return (isClockRight ? clock : hereAt) - timeOf(runner.seenAt);
}
