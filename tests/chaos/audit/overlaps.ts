/**
 * Bodies of one run are never at work in two processes at once, as far as a lease can promise it. What may overlap:
 *
 *  - A process that does not get to run (frozen, starved) cannot notice that its lease is over. Its bodies are told as
 *    soon as it wakes up; until then another process may be at work on the run.
 *  - Where a failover lost a claim, another process may claim the run before the first one knows.
 *  - Nothing else. A process cut off from the store aborts its bodies when the lease is over by its own monotonic clock,
 *    which it reads before it asks for the lease: never later than the store's own end of it. A killed one does nothing
 *    any more.
 *
 * The instant of change itself takes a little: timers fire late by a few milliseconds.
 */

import type { Evidence } from "../evidence.ts";
import { grouped } from "../grouped.ts";
import type { BeginLine, EndLine } from "../ledger.ts";
import { isHeldInVain } from "../losses.ts";
import { gapsOf, latenessMs } from "./gaps.ts";

interface Span {
  readonly begin: BeginLine;
  /** How it ended: as it says itself, or with its process. */
  readonly how: string;
  readonly from: number;
  readonly to: number;
}

export interface Overlap {
  readonly what: string;
  readonly ms: number;
  /** The earlier process was away, and stopped as soon as it was back; or one of them held a lease that was lost. */
  readonly explained: boolean;
}

export function auditOverlaps(evidence: Evidence): string[] {
  return findOverlaps(evidence)
    .filter(({ explained }) => !explained)
    .map(({ what }) => what);
}

export function findOverlaps(evidence: Evidence): Overlap[] {
  const spansByRun = grouped(spansOf(evidence), ({ begin }) => begin.body.split("/").slice(0, 3).join("/"));
  return [...spansByRun.values()].flatMap((spans) =>
    spans.flatMap((later) =>
      spans
        .filter((earlier) => earlier.begin.pid !== later.begin.pid && earlier.from <= later.from)
        .filter((earlier) => earlier.to - later.from > latenessMs)
        .map((earlier) => overlapOf(earlier, later, evidence)),
    ),
  );
}

function spansOf({ ledger, processes }: Evidence): Span[] {
  const ends = new Map<string, EndLine>();
  for (const line of ledger) if (line.kind === "end") ends.set(line.token, line);
  const diedAt = new Map(processes.map(({ pid, endedAt }) => [pid, endedAt]));
  return ledger
    .filter((line) => line.kind === "begin")
    .map((begin) => {
      const end = ends.get(begin.token);
      const to = end?.at ?? diedAt.get(begin.pid) ?? Number.POSITIVE_INFINITY;
      return { begin, how: end?.how ?? "cut off", from: begin.at, to };
    });
}

function overlapOf(earlier: Span, later: Span, evidence: Evidence): Overlap {
  const { pid } = earlier.begin;
  const gaps = gapsOf(pid, evidence);
  const wasAway = gaps.some(
    (gap) => gap.from <= later.from + latenessMs && gap.to >= earlier.to - latenessMs,
  );
  const { leaseMs, losses } = evidence;
  const explained = wasAway || isHeldInVain(later.from, Math.min(earlier.to, later.to), leaseMs, losses);
  const ms = Math.min(earlier.to, later.to) - later.from;
  const what =
    `${earlier.begin.body} was at work in ${pid} from ${at(earlier.from)} to ${at(earlier.to)} (${earlier.how}), ` +
    `and ${later.begin.body} in ${later.begin.pid} from ${at(later.from)}: together for ${ms.toFixed(0)} ms; ` +
    `${pid} was away ${gaps.map((gap) => `from ${at(gap.from)} to ${at(gap.to)}`).join(", ") || "never"}`;
  return { what, ms, explained };
}

function at(time: number): string {
  return time.toFixed(0);
}
