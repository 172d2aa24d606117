/** Where an instance is now, in a few words; and how long it took. */

import { waitWords } from "../../words/common.ts";
import { isEnded } from "../../words/statuses.ts";
import { spokenAgo, spokenDuration, spokenRunning } from "../../words/time.ts";
import type { Row } from "./row.ts";
import type { Wait } from "./wait.ts";

export function spokenState(row: Row, now: number, wait?: Wait): string {
  if (row.hasLeft) return "not in this list any more";
  if (isEnded(row.status)) return row.status === "complete" ? "" : (row.why ?? "");
  switch (row.status) {
    case "active":
      if (row.executing) return "executing";
      if (row.queued) return queuedFor(row, now);
      return row.startedAt === null ? startWords(row, now) : waitWords(undefined, whenDue(row, now));
    case "waiting":
      return row.executing ? "executing" : waitWords(wait, whenDue(row, now));
    case "paused":
      return `paused ${spokenAgo(row.updatedAt, now)}`;
  }
}

/** How long it took; of one that goes on, how long so far. */
export function spokenLife(row: Row, now: number): string {
  if (isEnded(row.status)) {
    const end = row.completedAt ?? row.updatedAt;
    return spokenDuration(Math.max(0, end - (row.startedAt ?? row.createdAt)));
  }
  if (row.startedAt === null) return "not started";
  return spokenRunning(now - row.startedAt);
}

function queuedFor({ dueAt }: Row, now: number): string {
  const ms = dueAt === null ? 0 : now - dueAt;
  return ms < 2000 ? "queued" : `queued for ${spokenRunning(ms)}`;
}

function startWords(row: Row, now: number): string {
  const when = whenDue(row, now);
  return when === null ? "" : `starts ${when}`;
}

function whenDue({ dueAt }: Row, now: number): string | null {
  if (dueAt === null) return null;
  return dueAt <= now + 1000 ? "now" : spokenAgo(dueAt, now);
}
