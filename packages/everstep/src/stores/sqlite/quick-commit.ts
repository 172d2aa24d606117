/**
 * The common commit without a read before it: the update of the hot row is the fence. It fits a run that is leased under
 * this token, not paused, at the commit before this one, and that has no event the turn has not seen; then nothing else
 * needs to be known of it. What does not fit, or brings more than steps, goes the long way.
 */
import type { Boundary } from "../../model/boundary.ts";
import { laneOf, lanes } from "../../store/apply/lane.ts";
import type { CommitOutcome, CommitRequest } from "../../store/store.ts";
import { begunText } from "../sql/json-column.ts";
import type { Connection } from "./connection.ts";
import { type Endings, isDeadLetter, statusOf } from "./endings.ts";
import { runKey } from "./hot-row.ts";
import type { Steps } from "./steps.ts";

/** Null when it was not applied. */
export type QuickCommit = (request: CommitRequest, now: number) => CommitOutcome | null;

export function quickCommits({ db, names }: Connection, steps: Steps, endings: Endings): QuickCommit {
  const applied = "last_commit = ?, begun = ?, updated_at = ?, crash_count = 0, recorded = 1";
  const fence = `id = ? AND token = ? AND last_commit = ? AND lane = ${lanes.held} AND status = 'active' AND event_seq = ?`;
  const keep = db.prepare(`UPDATE ${names.run} SET ${applied} WHERE ${fence}`);
  const extend = db.prepare(`UPDATE ${names.run} SET ${applied}, due_at = max(due_at, ?) WHERE ${fence}`);
  const suspend = db.prepare(
    `UPDATE ${names.run} SET ${applied}, status = 'waiting', kind = ?, lane = ?, due_at = ?, waiting_since = ? WHERE ${fence}`,
  );
  const finish = db.prepare(
    `UPDATE ${names.run} SET ${applied}, status = ?, dead_letter = ?, lane = NULL, waiting_since = NULL, paused_at = NULL,
       prune_at = ? + (SELECT retention_ms FROM ${names.instance} WHERE id = instance) WHERE ${fence}`,
  );

  /** True when the row fitted. */
  const update = (run: number, { lease, boundary, leaseUntil }: CommitRequest, now: number): boolean => {
    const { number, next, eventSeqSeen: seen } = boundary;
    const { token } = lease;
    const begun = begunText(boundary.begun);
    const before = number - 1;
    switch (next.kind) {
      case "continue":
        // A new end of the lease moves an index entry; a runner that leaves it alone for a while commits cheaper.
        return leaseUntil === 0
          ? keep.run(number, begun, now, run, token, before, seen).changes > 0
          : extend.run(number, begun, now, leaseUntil, run, token, before, seen).changes > 0;
      case "suspend": {
        const { dueAt, task } = next;
        const lane = laneOf(task);
        return suspend.run(number, begun, now, task, lane, dueAt, now, run, token, before, seen).changes > 0;
      }
      case "complete":
      case "error": {
        const status = statusOf[next.kind];
        const dead = isDeadLetter(next);
        return finish.run(number, begun, now, status, dead, now, run, token, before, seen).changes > 0;
      }
      default:
        return false;
    }
  };

  return (request, now) => {
    const { boundary } = request;
    if (!isPlain(request)) return null;
    const run = runKey(request.lease.runId);
    if (!update(run, request, now)) return null;
    for (const step of boundary.steps) steps.put(run, step);
    const { next, eventSeqSeen: eventSeq } = boundary;
    if (next.kind === "complete" || next.kind === "error") endings.keep(run, next, now);
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
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
