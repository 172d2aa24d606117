import type { Evidence } from "../evidence.ts";

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** How late a process that gets to run may be with what is due, and how far two readings of the clock may differ. */
export const latenessMs = 100;

/**
 * When a process did not get to run: what it noticed itself, and what it could not notice because it died meanwhile. One
 * that comes back for a moment only, before something else keeps it, was away all the time.
 */
export function gapsOf(pid: number, { ledger, processes }: Pick<Evidence, "ledger" | "processes">): Gap[] {
  const noticed = ledger.filter((line) => line.kind === "gap" && line.pid === pid) as Gap[];
  const unnoticed = processes
    .filter((each) => each.pid === pid)
    .flatMap(({ freezes, lastBeatAt, endedAt }) => [...freezes, { from: lastBeatAt, to: endedAt }]);
  return joined([...noticed, ...unnoticed]);
}

function joined(gaps: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  for (const { from, to } of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to + latenessMs)
      result.splice(-1, 1, { from: last.from, to: Math.max(last.to, to) });
    else result.push({ from, to });
  }
  return result;
}

/** The process did not get to run from before `since` until just before `at`. */
export function wasAway(pid: number, since: number, at: number, evidence: Evidence): boolean {
  return gapsOf(pid, evidence).some(({ from, to }) => from <= since && to >= at - latenessMs);
}
