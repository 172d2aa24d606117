/** Who holds a run: claims, renewals, leases that are given back, and requests about a run's task alone. */
import { crashesAfter, type LeftRun, provesCrash, type ReturnedLease } from "../../model/lease.ts";
import type {
  AbandonOutcome,
  AbandonRequest,
  ClaimRequest,
  RenewAnswer,
  Renewal,
  WakeOutcome,
  WakeRequest,
} from "../store.ts";
import { isLeased } from "./lane.ts";
import { expired, extended, givenBack, leased } from "./moves.ts";
import { runKey } from "./run-key.ts";
import type { RunRow } from "./run-row.ts";
import type { WorkingSet } from "./working-set.ts";

/** What a claim makes of a run that is due, and how the run was left. */
export function claimed(
  row: Pick<RunRow, "lane" | "dueAt" | "crashCount" | "lastCommit" | "token" | "startedAt">,
  request: ClaimRequest,
): { readonly move: ReturnType<typeof leased> & Pick<RunRow, "crashCount">; readonly left: LeftRun } {
  const { owner, token, leaseUntil: until, now } = request;
  const ranOut = isLeased(row.lane);
  const hasCrashed = ranOut && provesCrash(row.dueAt, request);
  const crashCount = hasCrashed ? crashesAfter(row.crashCount, row.lastCommit) : row.crashCount;
  return {
    move: { ...leased(row, { owner, token, until }, now), crashCount },
    left: { token: row.token, commit: row.lastCommit, ranOut },
  };
}

/** What a renewal or a release looks at. */
export type HeldRow = Pick<
  RunRow,
  "lane" | "token" | "lastCommit" | "eventSeq" | "status" | "dueAt" | "begun"
>;

/** Renewal is not acquisition: it succeeds only while nobody else has claimed the run (INV-4). */
export function renewed(
  row: HeldRow | undefined,
  { lease, begun, commit, applied = 0 }: Renewal,
  until: number,
): { readonly move: Pick<RunRow, "dueAt" | "begun"> | null; readonly answer: RenewAnswer } {
  if (row === undefined || !isHeld(row, lease) || row.lastCommit < applied)
    return { move: null, answer: { kind: "lost" } };
  const isUpToDate = commit === undefined || commit === row.lastCommit;
  return {
    move: { ...extended(row, until), begun: isUpToDate ? begun : row.begun },
    answer: { kind: "renewed", eventSeq: row.eventSeq, paused: row.status === "paused" },
  };
}

/** Null when the lease is no longer held. */
export function released(
  row: HeldRow | undefined,
  lease: ReturnedLease,
  now: number,
): Pick<RunRow, "lane" | "kind" | "dueAt" | "updatedAt"> | null {
  if (row === undefined || !isHeld(row, lease)) return null;
  const { retryAt } = lease;
  const move =
    retryAt === undefined ? givenBack(row.status, "resume", now) : givenBack(row.status, "retry", retryAt);
  return { ...move, updatedAt: now };
}

function isHeld({ lane, token }: HeldRow, lease: { readonly token: number }): boolean {
  return isLeased(lane) && token === lease.token;
}

export function applyWake(set: WorkingSet, { runId, token }: WakeRequest, now: number): WakeOutcome {
  const run = set.runs.get(runKey(runId));
  if (run === undefined || run.row.token !== token || run.row.lane === null || run.isLeased)
    return { kind: "ignored" };
  run.makeDue("wake", now);
  set.news.due = true;
  return { kind: "woken" };
}

export function applyAbandon(set: WorkingSet, { owner, fate }: AbandonRequest, now: number): AbandonOutcome {
  const left = [...set.runs.values()].filter((run) => run.row.owner === owner && !run.hasEnded);
  if (fate.kind === "error") {
    for (const run of left) run.endByForce({ kind: "error", error: fate.error, deadLetter: false }, now);
    if (left.length > 0) set.news.ended = true;
    return { kind: "abandoned", runs: left.length };
  }
  const held = left.filter(
    (run) => run.isLeased && (fate.kind !== "release" || run.row.token === fate.token),
  );
  for (const run of held) {
    if (fate.kind === "release") run.giveBack("resume", now);
    else run.change(expired(run.row, now));
  }
  if (held.length > 0) set.news.due = true;
  return { kind: "abandoned", runs: held.length };
}
