/**
 * What becomes of a run: the fields of its hot row that each move changes, and nothing else about it. Everything that
 * writes hot rows takes its values from here, fast paths of stores included.
 */
import { type Boundary, type Ending, endedStatus } from "../../model/boundary.ts";
import type { InstanceStatus } from "../../model/instance.ts";
import { waitsOutCrash } from "../../model/lease.ts";
import type { LeaseOffer } from "../../model/request.ts";
import type { TaskKind } from "../../model/task.ts";

import { isLeased, laneOf, lanes } from "./lane.ts";
import type { RunRow } from "./run-row.ts";

/** Nobody has ever held it. */
export const unbegun = {
  isCurrent: true,
  status: "active",
  kind: "run",
  lane: lanes.starting,
  owner: null,
  lastCommit: 0,
  eventSeq: 0,
  logSeq: 0,
  crashCount: 0,
  deadLetter: false,
  startedAt: null,
  waitingSince: null,
  pausedAt: null,
  pruneAt: null,
  begun: [],
} as const satisfies Partial<RunRow>;

/** It is somebody's, under a token that no lease ever had. */
export function leased(
  { startedAt }: Pick<RunRow, "startedAt">,
  { owner, token, until }: LeaseOffer,
  now: number,
): Pick<RunRow, "status" | "kind" | "lane" | "owner" | "dueAt" | "token"> &
  Pick<RunRow, "lastCommit" | "waitingSince" | "startedAt" | "updatedAt"> {
  return {
    status: "active",
    kind: "resume",
    lane: lanes.held,
    owner,
    dueAt: until,
    token,
    lastCommit: 0,
    waitingSince: null,
    startedAt: startedAt ?? now,
    updatedAt: now,
  };
}

/** A commit under its lease was applied, whatever comes next. */
export function committed(
  { crashCount }: Pick<RunRow, "crashCount">,
  { number, begun, noProgress }: Boundary,
  now: number,
): Pick<RunRow, "lastCommit" | "recorded" | "crashCount" | "begun" | "updatedAt"> {
  return {
    lastCommit: number,
    recorded: true,
    crashCount: noProgress ? crashCount : 0,
    begun,
    updatedAt: now,
  };
}

/** A lease only ever grows while it is held. */
export function extended({ dueAt }: Pick<RunRow, "dueAt">, until: number): Pick<RunRow, "dueAt"> {
  return { dueAt: Math.max(dueAt, until) };
}

/** Still leased, but over: the next claim sees a lease that ran out and counts the crash. */
export function expired({ dueAt }: Pick<RunRow, "dueAt">, now: number): Pick<RunRow, "dueAt"> {
  return { dueAt: Math.min(dueAt, now) };
}

/** Nobody's any more. A paused run wants no turn; what it was to do next is kept, resuming makes it due. */
export function givenBack(status: InstanceStatus, kind: TaskKind, dueAt: number): Scheduled {
  return { lane: status === "paused" ? null : laneOf(kind), kind, dueAt };
}

/** Due now, unless it has been due for longer already. */
export function madeDue({ dueAt }: Pick<RunRow, "dueAt">, kind: TaskKind, now: number): Scheduled {
  return { kind, lane: laneOf(kind), dueAt: Math.min(dueAt, now) };
}

/**
 * An event that it waits for makes it due. A leased row keeps its due time, which is the end of its lease: the turn's own
 * suspend finds the event (INV-23).
 */
export function canBeWoken(row: Pick<RunRow, "lane" | "status" | "crashCount">): boolean {
  return row.lane !== null && !isLeased(row.lane) && !waitsOutCrash(row);
}

/** Its turn is over until then. */
export function suspended(
  task: TaskKind,
  dueAt: number,
  now: number,
): Scheduled & Pick<RunRow, "status" | "waitingSince"> {
  return { ...givenBack("waiting", task, dueAt), status: "waiting", waitingSince: now };
}

/** Its turn goes on elsewhere, or later. */
export function yielded(dueAt: number): Scheduled {
  return givenBack("active", "resume", dueAt);
}

export function ended(
  ending: Ending,
  retentionMs: number | null,
  now: number,
): Pick<RunRow, "status" | "deadLetter" | "lane" | "waitingSince" | "pausedAt" | "updatedAt" | "pruneAt"> {
  return {
    status: endedStatus(ending),
    deadLetter: ending.kind === "error" && ending.deadLetter,
    lane: null,
    waitingSince: null,
    pausedAt: null,
    updatedAt: now,
    pruneAt: retentionMs === null ? null : now + retentionMs,
  };
}

/** Taken out of the hands of whoever holds it: no commit is taken for one under the old lease. */
export function fencedOff({ token }: Pick<RunRow, "token">): Pick<RunRow, "token" | "lastCommit"> {
  return { token: token + 1, lastCommit: 0 };
}

/** Whoever holds it may finish what is under way. */
export function paused(
  { lane }: Pick<RunRow, "lane">,
  now: number,
): Pick<RunRow, "status" | "pausedAt" | "updatedAt" | "lane"> {
  return { status: "paused", pausedAt: now, updatedAt: now, lane: isLeased(lane) ? lanes.heldPaused : null };
}

/** A lease that ran out meanwhile was never given back: it stays one that ran out, and its claim counts a crash. */
export function resumed(
  row: Pick<RunRow, "lane" | "dueAt" | "kind">,
  now: number,
): Scheduled & Pick<RunRow, "status" | "pausedAt" | "updatedAt"> {
  const lane = isLeased(row.lane) ? lanes.held : lanes.resuming;
  const goesOn = { status: "active", pausedAt: null, updatedAt: now, lane } as const;
  if (isInForce(row, now)) return { ...goesOn, kind: row.kind, dueAt: row.dueAt };
  return { ...goesOn, kind: "resume", dueAt: now };
}

/** It goes on after its end, as if nobody had held it since. */
export function retried(
  { token }: Pick<RunRow, "token">,
  dueAt: number,
  now: number,
): Partial<RunRow> & Scheduled {
  return {
    ...givenBack("active", "retry", dueAt),
    ...fencedOff({ token }),
    status: "active",
    crashCount: 0,
    deadLetter: false,
    pruneAt: null,
    begun: [],
    updatedAt: now,
  };
}

/** Another run of its instance is the current one. */
export const replaced: Pick<RunRow, "isCurrent" | "pruneAt"> = { isCurrent: false, pruneAt: null };

export function isInForce({ lane, dueAt }: Pick<RunRow, "lane" | "dueAt">, now: number): boolean {
  return isLeased(lane) && dueAt > now;
}

type Scheduled = Pick<RunRow, "kind" | "lane" | "dueAt">;
