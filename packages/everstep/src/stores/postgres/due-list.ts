/**
 * What wants a turn, soonest first. Every workflow and lane is its own stretch of the claim's index, already in order;
 * their beginnings are merged.
 */

import { pendingLanes } from "../../store/apply/lane.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { TableNames } from "../sql/table.ts";
import { withWorkflows } from "../sql/workflows.ts";

export function dueListing(names: TableNames): Dialect["listDue"] {
  const sql = `${withWorkflows(names)},
    found AS MATERIALIZED (
      SELECT c.id, c.due_at FROM known CROSS JOIN (VALUES ${pendingLanes.map((lane) => `(${lane})`).join(", ")}) AS l (lane)
      CROSS JOIN LATERAL (
        SELECT r.id, r.due_at FROM ${names.run} r
        WHERE r.workflow = known.workflow AND r.lane = l.lane AND r.due_at <= ?::bigint
        ORDER BY r.due_at, r.id LIMIT ?
      ) c
      ORDER BY c.due_at, c.id LIMIT ?
    )
    SELECT i.workflow, i.instance_id, r.run_number, r.kind, r.due_at
    FROM found f JOIN ${names.run} r ON r.id = f.id JOIN ${names.instance} i ON i.id = r.instance
    ORDER BY f.due_at, f.id`;
  return async (database, { before, limit }) => {
    const [result] = await database.run([{ sql, values: [before, limit, limit] }]);
    return result?.rows ?? [];
  };
}
