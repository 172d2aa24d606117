/**
 * The common commit without a read before it: the update of the hot row is the fence. It fits a run that is leased under
 * this token, not paused, at the commit before this one, and that has no event the turn has not seen; then nothing else
 * needs to be known of it. What does not fit, or brings more than steps, goes the long way.
 */
import type { Boundary, Next } from "../../model/boundary.ts";
import { isEnding } from "../../store/apply/ending.ts";
import { lanes } from "../../store/apply/lane.ts";
import { committed, ended, extended, suspended, yielded } from "../../store/apply/moves.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { CommitOutcome, CommitRequest } from "../../store/store.ts";
import { type Move, moveColumns, moveValues } from "../sql/run-row.ts";
import type { Connection } from "./connection.ts";
import type { SqliteStatement } from "./driver.ts";
import type { SaveEnding } from "./save.ts";
import type { Steps } from "./steps.ts";

/** Null when it was not applied. */
export type QuickCommit = (request: CommitRequest, now: number) => CommitOutcome | null;

export function quickCommits(connection: Connection, steps: Steps, saveEnding: SaveEnding): QuickCommit {
  const update = updates(connection);
  return (request, now) => {
    if (!isPlain(request)) return null;
    const { lease, boundary } = request;
    const { number, next, eventSeqSeen: eventSeq } = boundary;
    const move = moveOf(request, now);
    const run = runKey(lease.runId);
    if (!update(next, move, [run, lease.token, number - 1, eventSeq])) return null;
    for (const step of boundary.steps) steps.put(run, step);
    if (isEnding(next)) {
      saveEnding(run, next, now);
      steps.close(run);
    }
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
  };
}

/** What becomes of the run, where `extended` and `ended` start from nothing: what they look at is in the row. */
function moveOf({ boundary, leaseUntil }: CommitRequest, now: number): Move {
  const { next } = boundary;
  const move = committed(noCrashes, boundary, now);
  switch (next.kind) {
    case "continue":
      // A new end of the lease moves an index entry; a runner that leaves it alone for a while commits cheaper.
      return leaseUntil === 0 ? move : { ...move, ...extended(noLease, leaseUntil) };
    case "suspend":
      return { ...move, ...suspended(next.task, next.dueAt, now) };
    case "yield":
      return { ...move, ...yielded(next.dueAt) };
    default:
      return { ...move, ...ended(next, 0, now) };
  }
}

const noCrashes = { crashCount: 0 };
const noLease = { dueAt: 0 };

/** Applies a move if the row fits; true when it did. */
type Update = (next: Next, move: Move, fence: readonly [number, number, number, number]) => boolean;

function updates({ db, names }: Connection): Update {
  const fence = `id = ? AND token = ? AND last_commit = ? AND lane = ${lanes.held} AND status = 'active' AND event_seq = ?`;
  const retention = `SELECT retention_ms FROM ${names.instance} WHERE id = instance`;
  const prepare = (next: Next, move: Move): SqliteStatement<unknown> => {
    const set = moveColumns(move).map((column) => {
      if (column === "due_at" && next.kind === "continue") return "due_at = max(due_at, ?)";
      return column === "prune_at" ? `prune_at = ? + (${retention})` : `${column} = ?`;
    });
    return db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE ${fence}`);
  };
  const prepared = new Map<string, SqliteStatement<unknown>>();
  return (next, move, row) => {
    const shape = next.kind === "continue" && move.dueAt === undefined ? "keep" : next.kind;
    const known = prepared.get(shape);
    const statement = known ?? prepare(next, move);
    if (known === undefined) prepared.set(shape, statement);
    return statement.run(...moveValues(move), ...row).changes > 0;
  };
}

/** It brings steps and nothing else. */
function isPlain({ boundary, alongside, mutations, announce }: CommitRequest): boolean {
  return mutations === null && announce === undefined && alongside.length === 0 && bringsStepsOnly(boundary);
}

function bringsStepsOnly({ consumed, timeouts, logs, after, noProgress, heard }: Boundary): boolean {
  if (after !== undefined || noProgress || heard !== undefined) return false;
  return consumed.length === 0 && timeouts.length === 0 && logs.length === 0;
}
