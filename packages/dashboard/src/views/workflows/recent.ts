/** How a workflow has done lately, by its newest instances. */
import type { InstanceStatus, WireInstanceWithMeta } from "everstep/client";
import { isEnded } from "../../words/statuses.ts";
import { timeOf } from "../../words/time.ts";

export interface Recent {
  /** Those that have ended. */
  readonly ended: number;
  /** Of those that completed or failed, from 0 to 1; null if there are none. What people terminated says nothing of it. */
  readonly successRate: number | null;
  /** How long those that completed took, in milliseconds. */
  readonly p50: number | null;
  readonly p95: number | null;
  /** Those that have ended, the oldest first. */
  readonly bars: readonly RecentBar[];
}

export interface RecentBar {
  readonly id: string;
  readonly status: InstanceStatus;
  readonly tookMs: number;
  /** From 0 to 1. */
  readonly height: number;
}

const barsMax = 60;

export function recentOf(newestFirst: readonly WireInstanceWithMeta[]): Recent {
  const ended = newestFirst.filter(({ details }) => isEnded(details.status));
  const complete = ended.filter(({ details }) => details.status === "complete");
  const errored = ended.filter(({ details }) => details.status === "errored");
  const judged = complete.length + errored.length;
  const took = complete.map(tookMs).sort(ascending);
  const shown = ended.slice(0, barsMax).toReversed();
  // One that took a day would hide all others: what is longer than nearly all is as high as there is room.
  const high = Math.max(1, 1.25 * (percentile(shown.map(tookMs).sort(ascending), 0.95) ?? 0));
  return {
    ended: ended.length,
    successRate: judged === 0 ? null : complete.length / judged,
    p50: percentile(took, 0.5),
    p95: percentile(took, 0.95),
    bars: shown.map((each) => ({
      id: each.id,
      status: each.details.status,
      tookMs: tookMs(each),
      height: Math.min(1, Math.max(0.06, tookMs(each) / high)),
    })),
  };
}

/** Of one that has ended. */
export function tookMs({ meta }: WireInstanceWithMeta): number {
  return Math.max(0, timeOf(meta.completedAt ?? meta.updatedAt) - timeOf(meta.startedAt ?? meta.createdAt));
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** The nearest rank. */
function percentile(ordered: readonly number[], share: number): number | null {
  return ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] ?? null;
}

/** "98 %", and never 100 % while something failed. */
export function spokenRate(rate: number | null): string {
  if (rate === null) return "–";
  const percent = rate * 100;
  return `${percent > 99 && percent < 100 ? Math.min(99.9, percent).toFixed(1) : Math.floor(percent)} %`;
}
