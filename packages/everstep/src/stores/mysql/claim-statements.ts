import { claimableLanes, lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import { crashesText, excusedFrom } from "../sql/lease/claim.ts";
import type { SqlRow } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import type { Candidate } from "./claim-choice.ts";
import { byKey } from "./rows.ts";

export interface ClaimStatements {
  /** Workflows of which something is due; locks nothing. */
  due(request: ClaimRequest): Statement;
  /** Leases in force of workflows with a limit. None when there is no such workflow. */
  held(request: ClaimRequest): readonly Statement[];
  /**
   * Who claims runs of a workflow with a limit does so alone, or two would find the same room. Two statements for each such
   * workflow: whether its row is there, and the row itself, locked unless somebody else has it.
   */
  caps(request: ClaimRequest): readonly Statement[];
  addCaps(workflows: readonly string[]): readonly Statement[];
  /** Makes a claim of theirs a write: of two nodes of Galera, which do not see each other's locks, the second is refused. */
  countCaps(workflows: readonly string[]): readonly Statement[];
  /** For any time up to that, so that nobody keeps step with another. */
  pause(msMax: number): Statement;
  /** The oldest due runs of each workflow and lane, locked. */
  stretches(request: ClaimRequest): readonly Statement[];
  instances(taken: readonly Candidate[]): Statement;
  take(request: ClaimRequest, taken: readonly Candidate[]): Statement;
  /** What stands for the columns of an instance that is not there. */
  readonly noInstance: SqlRow;
}

const instanceColumns = ["workflow", "instance_id", "created_at", "deadline_at", "params", "params_marks"];

export function claimStatements(names: TableNames): ClaimStatements {
  const run = `${names.run} r FORCE INDEX (\`claim\`)`;
  const stretch = `SELECT r.id AS run, r.instance, r.workflow, r.lane, r.due_at, r.run_number, r.token, r.last_commit,
      r.recorded, r.event_seq, r.crash_count, r.started_at, r.waiting_since, r.begun
    FROM ${run} WHERE r.workflow = ? AND r.lane = ? AND r.due_at <= ?
    ORDER BY r.due_at, r.id LIMIT ? FOR UPDATE SKIP LOCKED`;
  const due = `SELECT ? AS workflow FROM DUAL WHERE ${claimableLanes
    .map(
      (lane) => `EXISTS (SELECT 1 FROM ${run} WHERE r.workflow = ? AND r.lane = ${lane} AND r.due_at <= ?)`,
    )
    .join(" OR ")}`;
  const held = `SELECT r.workflow, COUNT(*) AS held FROM ${run}
    WHERE r.workflow IN (?) AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.due_at > ? GROUP BY r.workflow`;
  const capName = "CONCAT('cap ', SHA1(?))";
  const cap = `SELECT ? AS workflow FROM ${names.meta} m WHERE m.name = ${capName}`;
  const addCap = `INSERT INTO ${names.meta} (name, value) VALUES (${capName}, 0) ON DUPLICATE KEY UPDATE value = value`;
  const countCap = `UPDATE ${names.meta} SET value = value + 1 WHERE name = ${capName}`;
  const instances = `SELECT i.id, ${instanceColumns.map((column) => `i.${column}`).join(", ")}
    FROM ${names.instance} i WHERE i.id IN (?)`;
  // Assignments are made one after the other: what depends on the lane comes before it.
  const take = `UPDATE ${names.run} r ${byKey} SET
      r.crash_count = ${crashesText("r", "?")}, r.lane = ${lanes.held}, r.kind = 'resume', r.status = 'active', r.token = ?, r.last_commit = 0, r.owner = ?, r.due_at = ?,
      r.started_at = COALESCE(r.started_at, ?), r.waiting_since = NULL, r.updated_at = ?
    WHERE r.id IN (?)`;

  return {
    noInstance: Object.fromEntries(instanceColumns.map((column) => [column, null])),

    due: ({ workflows, now }) => ({
      sql: workflows.map(() => due).join(" UNION ALL "),
      values: workflows.flatMap(({ name }) => [name, ...claimableLanes.flatMap(() => [name, now])]),
    }),

    held(request) {
      const limited = withLimit(request);
      return limited.length === 0 ? [] : [{ sql: held, values: [limited, request.now] }];
    },

    caps: (request) =>
      withLimit(request).flatMap((name) => [
        { sql: cap, values: [name, name] },
        { sql: `${cap} FOR UPDATE SKIP LOCKED`, values: [name, name] },
      ]),

    addCaps: (workflows) => workflows.map((name) => ({ sql: addCap, values: [name] })),

    countCaps: (workflows) => workflows.map((name) => ({ sql: countCap, values: [name] })),

    pause: (msMax) => ({ sql: "DO SLEEP(RAND() * ?)", values: [msMax / 1000] }),

    stretches: ({ workflows, now, limit }) =>
      workflows.flatMap(({ name }) =>
        claimableLanes.map((lane) => ({ sql: stretch, values: [name, lane, now, limit] })),
      ),

    instances: (taken) => ({ sql: instances, values: [taken.map(({ row }) => row.instance)] }),

    take: (request, taken) => {
      const { token, owner, leaseUntil, now } = request;
      return {
        sql: take,
        values: [excusedFrom(request), token, owner, leaseUntil, now, now, taken.map((each) => each.run)],
      };
    },
  };
}

/** Workflows with a limit, in an order that is the same for all. */
export function withLimit({ workflows }: ClaimRequest): readonly string[] {
  return workflows.flatMap(({ name, concurrency }) => (concurrency === null ? [] : [name])).sort();
}
