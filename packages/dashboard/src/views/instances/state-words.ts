/** Where an instance is now, in a few words; and how long it took. */

import { isEnded } from "../../words/statuses.ts";
import { spokenAgo, spokenDuration } from "../../words/time.ts";
import type { Row } from "./row.ts";
import type { Wait } from "./wait.ts";

export function spokenState(row: Row, now: number, wait?: Wait): string {
  if (row.hasLeft) return "not in this list any more";
  if (isEnded(row.status)) return row.status === "complete" ? "" : (row.why ?? "");
  switch (row.status) {
    case "active":
      if (row.executing) return "executing";
      return row.queued ? queuedFor(row, now) : dueWords(row, now, row.startedAt === null ? "starts" : "due");
    case "waiting":
      return row.executing
        ? "executing"
        : [waitWords(wait), dueWords(row, now, dueWord(wait))].filter(Boolean).join(", ");
    case "paused":
      return `paused ${spokenAgo(row.updatedAt, now)}`;
  }
}

/** "approval ← approved": the step, and what it waits for. */
export function waitWords(wait: Wait | undefined): string {
  const { reason, waitsFor } = wait ?? {};
  if (!waitsFor) return "";
  const { stepName, eventType, topic } = waitsFor;
  if (topic !== undefined) return `${stepName} ← topic ${topic}`;
  if (eventType !== undefined) return `${stepName} ← ${eventType}`;
  return reason === "waiting-for-retry" ? `${stepName} retries` : `${stepName} sleeps`;
}

/** How long it took; of one that goes on, how long so far. */
export function spokenLife(row: Row, now: number): string {
  if (isEnded(row.status)) {
    const end = row.completedAt ?? row.updatedAt;
    return spokenDuration(Math.max(0, end - (row.startedAt ?? row.createdAt)));
  }
  if (row.startedAt === null) return "not started";
  return spokenDuration(Math.max(1000, Math.floor((now - row.startedAt) / 1000) * 1000));
}

function queuedFor({ dueAt }: Row, now: number): string {
  const ms = dueAt === null ? 0 : now - dueAt;
  return ms < 2000 ? "queued" : `queued for ${spokenDuration(Math.floor(ms / 1000) * 1000)}`;
}

function dueWords({ dueAt }: Row, now: number, word: string): string {
  if (dueAt === null) return "";
  return dueAt <= now + 1000 ? "due now" : `${word} ${spokenAgo(dueAt, now)}`;
}

/** A wait for something that may come at any time only ends then if nothing comes. */
function dueWord(wait: Wait | undefined): string {
  const { eventType, topic } = wait?.waitsFor ?? {};
  return eventType === undefined && topic === undefined ? "due" : "gives up";
}
