/** Hands out due runs: looks at all of them, chooses, and writes what it chose, in one transaction. */

import { claimableLanes, lanes } from "../../../packages/everstep/src/store/apply/lane.ts";
import type { ClaimRequest } from "../../../packages/everstep/src/store/store.ts";
import type { Dialect } from "../../../packages/everstep/src/stores/sql/dialect.ts";
import { crashesText, excusedFrom } from "../../../packages/everstep/src/stores/sql/lease/claim.ts";
import { integer, type SqlRow, text } from "../../../packages/everstep/src/stores/sql/rows/row.ts";
import type { Statement, Transaction } from "../../../packages/everstep/src/stores/sql/session.ts";

export const claimRows: Dialect["claim"] = async (database, request) => {
  if (request.limit <= 0 || request.workflows.length === 0) return [];
  return database.transact((tx) => claimWithin(tx, request));
};

async function claimWithin(tx: Transaction, request: ClaimRequest): Promise<readonly SqlRow[]> {
  const workflows = request.workflows.map(({ name }) => name);
  const [held, due] = await tx.run([heldOf(workflows, request.now), dueOf(workflows, request)]);
  const room = new Map<string, number>(
    request.workflows.map(({ name, concurrency }) => [name, concurrency ?? Number.POSITIVE_INFINITY]),
  );
  for (const row of held?.rows ?? []) {
    const workflow = text(row, "workflow");
    room.set(workflow, (room.get(workflow) ?? 0) - integer(row, "count"));
  }
  const moves: Statement[] = [];
  const rows: SqlRow[] = [];
  for (const row of due?.rows ?? []) {
    if (rows.length === request.limit) break;
    const workflow = text(row, "run_workflow");
    const free = room.get(workflow) ?? 0;
    if (free <= 0) continue;
    room.set(workflow, free - 1);
    rows.push({ ...row, started_at: row.started_at ?? request.now });
    moves.push(taken(row, request));
  }
  await tx.commit(moves);
  return rows;
}

/** Of SQLite, whose greatest of two is called otherwise. */
const crashes = crashesText("r", "?").replace("GREATEST", "max");

function heldOf(workflows: readonly string[], now: number): Statement {
  return {
    sql: `SELECT r.workflow, count(*) AS count FROM run r WHERE r.lane IN (${lanes.held}, ${lanes.heldPaused})
      AND r.due_at > ? AND r.workflow IN (${workflows.map(() => "?").join(", ")}) GROUP BY r.workflow`,
    values: [now, ...workflows],
  };
}

function dueOf(workflows: readonly string[], request: ClaimRequest): Statement {
  return {
    sql: `SELECT r.id AS run, r.workflow AS run_workflow, r.lane, r.run_number, r.token, r.last_commit, r.started_at,
        r.lane = ${lanes.held} AS ran_out,
        ${crashes} AS crash_count, r.recorded, r.event_seq, r.begun, r.waiting_since,
        i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
      FROM run r LEFT JOIN instance i ON i.id = r.instance
      WHERE r.lane IN (${claimableLanes.join(", ")}) AND r.due_at <= ?
        AND r.workflow IN (${workflows.map(() => "?").join(", ")})
      ORDER BY r.lane = ${lanes.starting}, r.due_at, r.id`,
    values: [excusedFrom(request), request.now, ...workflows],
  };
}

function taken(row: SqlRow, { owner, token, leaseUntil, now }: ClaimRequest): Statement {
  return {
    sql: `UPDATE run SET lane = ${lanes.held}, kind = 'resume', status = 'active', owner = ?, due_at = ?, token = ?,
      last_commit = 0, crash_count = ?, waiting_since = NULL, started_at = coalesce(started_at, ?), updated_at = ?
      WHERE id = ?`,
    values: [owner, leaseUntil, token, integer(row, "crash_count"), now, now, integer(row, "run")],
  };
}
