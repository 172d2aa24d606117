/** How it all is, put together from a few questions to the store, each of them bounded. */

import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import type { DueView } from "../client/list-due.ts";
import type { InstanceStatus } from "../model/instance.ts";
import { version } from "../model/version.ts";
import type { WireOldest, WireOverview } from "../wire/index.ts";
import { warningsOf } from "./health.ts";

/** Counted one by one up to this. */
const countMax = 1000;
const pageSize = 100;
const hourMs = 3_600_000;
/** As good as for ever. */
const centuryMs = 100 * 365 * 24 * hourMs;
/** Those that are only scheduled stand before the oldest that has begun; so many pages of them are looked through. */
const oldestPagesMax = 10;

export async function overviewOf(app: App, parts: AppParts, mayKill: boolean): Promise<WireOverview> {
  const now = parts.runtime.now();
  const [counts, deadLetters, due, ahead, oldestWaiting, oldestActive, warnings] = await Promise.all([
    app.counts(),
    countDeadLetters(app),
    app.due({ before: now, limit: countMax + 1 }),
    app.due({ before: now + centuryMs, limit: countMax + 1 }),
    oldest(app, "waiting", now),
    oldest(app, "active", now),
    warningsOf(parts),
  ]);
  const coming = ahead.slice(0, countMax).filter(({ dueAt }) => dueAt.getTime() > now);
  const scheduled = coming.filter(({ kind }) => kind === "run");
  const isSoon = (run: DueView | undefined): boolean => (run?.dueAt.getTime() ?? 0) <= now + hourMs;
  const retries = coming.filter((run) => run.kind === "retry" && isSoon(run));
  return {
    version,
    now: new Date(now).toISOString(),
    counts,
    scheduled: { count: scheduled.length, isMore: ahead.length > countMax },
    deadLetters,
    overdue: { ...bounded(due), oldestDueAt: due[0]?.dueAt.toISOString() ?? null },
    retries: {
      count: retries.length,
      isMore: ahead.length > countMax && isSoon(ahead.at(-1)),
      nextAt: retries[0]?.dueAt.toISOString() ?? null,
    },
    oldestWaiting,
    oldestActive,
    store: {
      name: parts.store.name ?? "custom",
      guarantees: Object.entries(parts.store.capabilities).map(([name, capability]) => ({
        name,
        ...capability,
      })),
      warnings,
    },
    runner: { running: parts.runner.isRunning },
    mayKill,
  };
}

function bounded(found: readonly unknown[]): { readonly count: number; readonly isMore: boolean } {
  return { count: Math.min(found.length, countMax), isMore: found.length > countMax };
}

async function countDeadLetters(app: App): Promise<{ readonly count: number; readonly isMore: boolean }> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await app.list({ deadLetter: true, pageSize, cursor, brief: true });
    count += page.items.length;
    cursor = page.cursor;
  } while (cursor !== undefined && count < countMax);
  return { count, isMore: cursor !== undefined };
}

/** One whose start is still to come has not grown old yet. */
async function oldest(app: App, status: InstanceStatus, now: number): Promise<WireOldest | null> {
  let cursor: string | undefined;
  for (let pages = 0; pages < oldestPagesMax; pages++) {
    // Of several, because those that the engine keeps for itself are left out of a page.
    const page = await app.list({
      status,
      order: "asc",
      pageSize: cursor ? pageSize : 10,
      cursor,
      brief: true,
    });
    const first = page.items.find(({ startedAt, dueAt }) => startedAt !== null || Number(dueAt) <= now);
    if (first) {
      const { workflowName, instanceId, createdAt } = first;
      return { workflowName, instanceId, createdAt: createdAt.toISOString() };
    }
    cursor = page.cursor;
    if (cursor === undefined) return null;
  }
  return null;
}
