/** How it all is, put together from a few questions to the store, each of them bounded. */
import type { AppParts } from "../client/app-parts.ts";
import type { App } from "../client/create-workflows.ts";
import type { InstanceStatus } from "../model/instance.ts";
import { version } from "../model/version.ts";
import type { WireOldest, WireOverview } from "../wire/index.ts";
import { warningsOf } from "./health.ts";

/** Counted one by one up to this. */
const countMax = 1000;
const pageSize = 100;
const hourMs = 3_600_000;

export async function overviewOf(app: App, parts: AppParts, mayKill: boolean): Promise<WireOverview> {
  const now = parts.runtime.now();
  const [counts, deadLetters, due, soon, oldestWaiting, oldestActive, warnings] = await Promise.all([
    app.counts(),
    countDeadLetters(app),
    app.due({ before: now, limit: countMax + 1 }),
    app.due({ before: now + hourMs, limit: countMax + 1 }),
    oldest(app, "waiting"),
    oldest(app, "active"),
    warningsOf(parts),
  ]);
  const retries = soon
    .slice(0, countMax)
    .filter(({ kind, dueAt }) => kind === "retry" && dueAt.getTime() > now);
  return {
    version,
    now: new Date(now).toISOString(),
    counts,
    deadLetters,
    overdue: { ...bounded(due), oldestDueAt: due[0]?.dueAt.toISOString() ?? null },
    retries: {
      count: retries.length,
      isMore: soon.length > countMax,
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

async function oldest(app: App, status: InstanceStatus): Promise<WireOldest | null> {
  // Of several, because those that the engine keeps for itself are left out of a page.
  const { items } = await app.list({ status, order: "asc", pageSize: 10, brief: true });
  const [first] = items;
  if (!first) return null;
  const { workflowName, instanceId, createdAt } = first;
  return { workflowName, instanceId, createdAt: createdAt.toISOString() };
}
