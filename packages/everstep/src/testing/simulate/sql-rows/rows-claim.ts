/** Hands out due runs: looks at all of them, chooses, and writes what it chose, in one transaction. */
import type { ClaimedRows, ClaimRound, Dialect } from "../../../stores/sql/dialect.ts";
import { claimableLanes, lanes } from "../../../stores/sql/lane.ts";
import { integer, type SqlRow, text } from "../../../stores/sql/row.ts";
import type { Statement, Transaction } from "../../../stores/sql/session.ts";

export const claimRows: Dialect["claim"] = async (database, round) => {
  if (round.limit <= 0 || round.workflows.length === 0) return { rows: [], putBack: 0 };
  return database.transact((tx) => claimWithin(tx, round));
};

async function claimWithin(tx: Transaction, round: ClaimRound): Promise<ClaimedRows> {
  const workflows = round.workflows.map(({ name }) => name);
  const [held, due] = await tx.run([heldOf(workflows, round.now), dueOf(workflows, round.now)]);
  const room = new Map<string, number>(
    round.workflows.map(({ name, concurrency }) => [name, concurrency ?? Number.POSITIVE_INFINITY]),
  );
  for (const row of held?.rows ?? []) {
    const workflow = text(row, "workflow");
    room.set(workflow, (room.get(workflow) ?? 0) - integer(row, "count"));
  }
  const moves: Statement[] = [];
  const rows: SqlRow[] = [];
  let putBack = 0;
  for (const row of due?.rows ?? []) {
    if (rows.length + putBack === round.limit) break;
    const workflow = text(row, "run_workflow");
    const free = room.get(workflow) ?? 0;
    if (free <= 0) continue;
    const ranOut = integer(row, "lane") === lanes.held;
    const crashes = integer(row, "crash_count") + (ranOut ? 1 : 0);
    const delayMs = ranOut ? delayOf(round, crashes) : 0;
    room.set(workflow, free - 1);
    if (delayMs > 0) {
      putBack++;
      moves.push(back(integer(row, "run"), crashes, round.now + delayMs));
      continue;
    }
    const token = integer(row, "token") + 1;
    const startedAt = row.started_at ?? round.now;
    rows.push({ ...row, token, crash_count: crashes, started_at: startedAt });
    moves.push(taken(integer(row, "run"), token, crashes, round));
  }
  await tx.commit(moves);
  return { rows, putBack };
}

function delayOf({ crashDelaysMs }: ClaimRound, crashes: number): number {
  return crashDelaysMs[Math.min(crashes, crashDelaysMs.length) - 1] ?? 0;
}

function heldOf(workflows: readonly string[], now: number): Statement {
  return {
    sql: `SELECT r.workflow, count(*) AS count FROM run r WHERE r.lane IN (${lanes.held}, ${lanes.heldPaused})
      AND r.due_at > ? AND r.workflow IN (${workflows.map(() => "?").join(", ")}) GROUP BY r.workflow`,
    values: [now, ...workflows],
  };
}

function dueOf(workflows: readonly string[], now: number): Statement {
  return {
    sql: `SELECT r.id AS run, r.workflow AS run_workflow, r.lane, r.run_number, r.token, r.crash_count, r.started_at,
        r.recorded, r.event_seq, r.begun, r.waiting_since,
        i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
      FROM run r LEFT JOIN instance i ON i.id = r.instance
      WHERE r.lane IN (${claimableLanes.join(", ")}) AND r.due_at <= ?
        AND r.workflow IN (${workflows.map(() => "?").join(", ")})
      ORDER BY r.lane = ${lanes.starting}, r.due_at, r.id`,
    values: [now, ...workflows],
  };
}

function back(run: number, crashes: number, dueAt: number): Statement {
  return {
    sql: `UPDATE run SET lane = ${lanes.resuming}, kind = 'retry', due_at = ?, crash_count = ? WHERE id = ?`,
    values: [dueAt, crashes, run],
  };
}

function taken(run: number, token: number, crashes: number, round: ClaimRound): Statement {
  const { owner, leaseUntil, now } = round;
  return {
    sql: `UPDATE run SET lane = ${lanes.held}, kind = 'resume', status = 'active', owner = ?, due_at = ?, token = ?,
      last_commit = 0, crash_count = ?, waiting_since = NULL, started_at = coalesce(started_at, ?), updated_at = ?
      WHERE id = ?`,
    values: [owner, leaseUntil, token, crashes, now, now, run],
  };
}
