/**
 * The common commit without a read before it: the update of the hot row is the fence. It fits a run that is leased under
 * this token, not paused, at the commit before this one, and that has no event the turn has not seen; then nothing else
 * needs to be known of it. What does not fit, or concerns more than its run, goes the long way.
 */
import { heardOfLost, type Next } from "../../model/boundary.ts";
import type { LogLine } from "../../model/log-line.ts";
import { isEnding } from "../../store/apply/ending.ts";
import { lanes } from "../../store/apply/lane.ts";
import { committed, ended, extended, suspended, yielded } from "../../store/apply/moves.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { CommitOutcome, CommitRequest } from "../../store/store.ts";
import { idOf } from "../sql/rows/event-key.ts";
import { type Move, moveColumns, moveValues } from "../sql/rows/run-row.ts";
import type { Connection } from "./connection.ts";
import type { SqliteStatement } from "./driver.ts";
import type { Savers } from "./save.ts";

/** Null when it was not applied. */
export type QuickCommit = (request: CommitRequest, now: number) => CommitOutcome | null;

export function quickCommits(connection: Connection, savers: Savers): QuickCommit {
  const { steps, saveEnding, saveLog, consume } = savers;
  const { db, names } = connection;
  const update = updates(connection);
  const eventId = db.prepareTuples(`SELECT id FROM ${names.event} WHERE run = ? AND seq = ?`);
  const logSeq = db.prepareTuples(`SELECT log_seq FROM ${names.run} WHERE id = ?`);

  const idOfEvent = (run: number, seq: number): string | undefined => {
    const found = eventId.get(run, seq);
    return found && idOf(found[0] as string);
  };
  const saveLogs = (run: number, lines: readonly LogLine[]): void => {
    const before = (logSeq.get(run)?.[0] as number) - lines.length;
    for (const [n, line] of lines.entries()) saveLog(run, before + 1 + n, line);
  };

  return (request, now) => {
    if (!isPlain(request)) return null;
    const { lease, boundary } = request;
    const { number, next, eventSeqSeen: eventSeq, logs } = boundary;
    const run = runKey(lease.runId);
    if (heardOfLost(boundary, (seq) => idOfEvent(run, seq))) return null;
    if (!update(request, moveOf(request, now), [run, lease.token, number - 1, eventSeq])) return null;
    for (const step of boundary.steps) steps.put(run, step);
    for (const { seq, stepKey } of boundary.consumed) consume(run, seq, stepKey, now);
    if (logs.length > 0) saveLogs(run, logs);
    if (isEnding(next)) {
      saveEnding(run, next, now);
      steps.close(run);
    }
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
  };
}

/** What becomes of the run, as if it had no lines in its log, no end of its lease and no retention: those are in the row. */
function moveOf(request: CommitRequest, now: number): Move {
  const { boundary } = request;
  const move = moveOnward(request, now);
  return boundary.logs.length === 0 ? move : { ...move, logSeq: boundary.logs.length };
}

function moveOnward({ boundary, leaseUntil }: CommitRequest, now: number): Move {
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
type Update = (
  request: CommitRequest,
  move: Move,
  fence: readonly [number, number, number, number],
) => boolean;

function updates({ db, names }: Connection): Update {
  const fence = `id = ? AND token = ? AND last_commit = ? AND lane = ${lanes.held} AND status = 'active' AND event_seq = ?`;
  const sums: Readonly<Record<string, string>> = {
    log_seq: "log_seq = log_seq + ?",
    prune_at: `prune_at = ? + (SELECT retention_ms FROM ${names.instance} WHERE id = instance)`,
  };
  const prepare = (move: Move, next: Next): SqliteStatement<unknown> => {
    const isExtended = next.kind === "continue";
    const set = moveColumns(move).map((column) =>
      isExtended && column === "due_at" ? "due_at = max(due_at, ?)" : (sums[column] ?? `${column} = ?`),
    );
    return db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE ${fence}`);
  };
  const prepared = new Map<string, SqliteStatement<unknown>>();
  return ({ boundary: { next, logs }, leaseUntil }, move, row) => {
    const kind = next.kind === "continue" && leaseUntil === 0 ? "keep" : next.kind;
    const shape = logs.length === 0 ? kind : `${kind} and log`;
    let statement = prepared.get(shape);
    if (statement === undefined) {
      statement = prepare(move, next);
      prepared.set(shape, statement);
    }
    return statement.run(...moveValues(move), ...row).changes > 0;
  };
}

/** Nothing but its own run's rows is concerned, and of those nothing has to be known first. */
function isPlain({ boundary, alongside, mutations, announce }: CommitRequest): boolean {
  const { timeouts, after, noProgress } = boundary;
  if (mutations !== null || announce !== undefined || alongside.length > 0) return false;
  return after === undefined && noProgress === undefined && timeouts.length === 0;
}
