/**
 * What wants a turn, soonest first. Every workflow and lane is its own stretch of the claim's index, already in order;
 * their beginnings are merged.
 */

import { pendingLanes } from "../../store/apply/lane.ts";
import type { DueQuery } from "../../store/store.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { merged } from "./merged.ts";
import { knownWorkflows } from "./workflows.ts";

export function dueList(names: TableNames): Dialect["listDue"] {
  return async (database, query) => {
    const workflows = await knownWorkflows(database, names);
    const stretches = workflows.flatMap((workflow) =>
      pendingLanes.map((lane) => stretch(names, workflow, lane, query)),
    );
    if (stretches.length === 0) return [];
    const soonest = merged(stretches, "due_at, id", query.limit);
    const [result] = await database.run([
      {
        sql: `SELECT i.workflow, i.instance_id, r.run_number, r.kind, r.due_at
          FROM (${soonest.sql}) p
          STRAIGHT_JOIN ${names.run} r ON r.id = p.id
          STRAIGHT_JOIN ${names.instance} i ON i.id = r.instance
          ORDER BY p.due_at, p.id`,
        values: soonest.values,
      },
    ]);
    return result?.rows ?? [];
  };
}

function stretch(names: TableNames, workflow: string, lane: number, { before, limit }: DueQuery): Statement {
  return {
    sql: `SELECT r.due_at, r.id FROM ${names.run} r FORCE INDEX (\`claim\`)
      WHERE r.workflow = ? AND r.lane = ${lane} AND r.due_at <= ? ORDER BY r.due_at, r.id LIMIT ?`,
    values: [workflow, before, limit],
  };
}
