import type { ClaimRound } from "../sql/dialect.ts";
import { claimableLanes, lanes } from "../sql/lane.ts";
import type { SqlRow } from "../sql/row.ts";
import type { Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import type { Candidate, Choice } from "./claim-choice.ts";
import { byKey } from "./rows.ts";

export interface ClaimStatements {
  /** Workflows of which something is due; locks nothing. */
  due(round: ClaimRound): Statement;
  /** Leases in force of workflows with a limit. None when there is no such workflow. */
  held(round: ClaimRound): readonly Statement[];
  /** Who claims runs of workflows with a limit does so alone, or two would find the same room. */
  capLocks(round: ClaimRound): readonly Statement[];
  /** The oldest due runs of each workflow and lane, locked. */
  stretches(round: ClaimRound): readonly Statement[];
  instances(taken: readonly Candidate[]): readonly Statement[];
  moves(round: ClaimRound, choice: Choice): readonly Statement[];
  /** What stands for the columns of an instance that is not there. */
  readonly noInstance: SqlRow;
}

const instanceColumns = ["workflow", "instance_id", "created_at", "deadline_at", "params", "params_marks"];

export function claimStatements(names: TableNames): ClaimStatements {
  const run = `${names.run} r FORCE INDEX (\`claim\`)`;
  const stretch = `SELECT r.id AS run, r.instance, r.workflow, r.lane, r.due_at, r.run_number, r.token, r.recorded,
      r.event_seq, r.crash_count, r.started_at, r.waiting_since, r.begun
    FROM ${run} WHERE r.workflow = ? AND r.lane = ? AND r.due_at <= ?
    ORDER BY r.due_at, r.id LIMIT ? FOR UPDATE SKIP LOCKED`;
  const due = `SELECT ? AS workflow FROM DUAL WHERE ${claimableLanes
    .map(
      (lane) => `EXISTS (SELECT 1 FROM ${run} WHERE r.workflow = ? AND r.lane = ${lane} AND r.due_at <= ?)`,
    )
    .join(" OR ")}`;
  const held = `SELECT r.workflow, COUNT(*) AS held FROM ${run}
    WHERE r.workflow IN (?) AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.due_at > ? GROUP BY r.workflow`;
  const capLock = `INSERT INTO ${names.meta} (name, value) VALUES (CONCAT('cap ', SHA1(?)), 0)
    ON DUPLICATE KEY UPDATE value = value`;
  const instances = `SELECT i.id, ${instanceColumns.map((column) => `i.${column}`).join(", ")}
    FROM ${names.instance} i WHERE i.id IN (?)`;
  // Assignments are made one after the other: what depends on the lane comes before it.
  const take = `UPDATE ${names.run} r ${byKey} SET r.crash_count = r.crash_count + (r.lane = ${lanes.held}), r.lane = ${lanes.held},
      r.kind = 'resume', r.status = 'active', r.token = r.token + 1, r.last_commit = 0, r.owner = ?, r.due_at = ?,
      r.started_at = COALESCE(r.started_at, ?), r.waiting_since = NULL, r.updated_at = ?
    WHERE r.id IN (?)`;
  const putBack = `UPDATE ${names.run} r ${byKey} SET r.lane = ${lanes.resuming}, r.kind = 'retry',
      r.crash_count = r.crash_count + 1, r.due_at = ? WHERE r.id IN (?)`;

  return {
    noInstance: Object.fromEntries(instanceColumns.map((column) => [column, null])),

    due: ({ workflows, now }) => ({
      sql: workflows.map(() => due).join(" UNION ALL "),
      values: workflows.flatMap(({ name }) => [name, ...claimableLanes.flatMap(() => [name, now])]),
    }),

    held(round) {
      const limited = withLimit(round);
      return limited.length === 0 ? [] : [{ sql: held, values: [limited, round.now] }];
    },

    capLocks: (round) => withLimit(round).map((name) => ({ sql: capLock, values: [name] })),

    stretches: ({ workflows, now, limit }) =>
      workflows.flatMap(({ name }) =>
        claimableLanes.map((lane) => ({ sql: stretch, values: [name, lane, now, limit] })),
      ),

    instances: (taken) =>
      taken.length === 0 ? [] : [{ sql: instances, values: [taken.map(({ row }) => row.instance)] }],

    moves: ({ owner, leaseUntil, now }, { taken, putBack: back }) => [
      ...(taken.length === 0
        ? []
        : [{ sql: take, values: [owner, leaseUntil, now, now, taken.map((each) => each.run)] }]),
      ...[...new Set(back.map(({ dueAt }) => dueAt))].map((dueAt) => ({
        sql: putBack,
        values: [dueAt, back.filter((each) => each.dueAt === dueAt).map((each) => each.run)],
      })),
    ],
  };
}

/** In an order that is the same for all, so that nobody waits for each other in a circle. */
function withLimit({ workflows }: ClaimRound): readonly string[] {
  return workflows.flatMap(({ name, concurrency }) => (concurrency === null ? [] : [name])).sort();
}
