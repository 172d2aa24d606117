/**
 * What wants a turn, soonest first. Every workflow and lane is its own stretch of the claim's index, already in order;
 * their beginnings are merged.
 */

import { pendingLanes } from "../../store/apply/lane.ts";
import type { DueQuery, DueRun } from "../../store/store.ts";
import { readDue } from "../sql/due-row.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";
import { withWorkflows } from "./workflows.ts";

export type ListDue = (query: DueQuery) => readonly DueRun[];

export function dueList(connection: Connection): ListDue {
  const { db, names } = connection;
  const workflows = db.prepareTuples(
    `${withWorkflows(names)} SELECT workflow FROM known WHERE workflow IS NOT NULL`,
  );
  const first = db.prepareTuples(
    `SELECT id, due_at FROM ${names.run} WHERE workflow = ? AND lane = ? AND due_at <= ? ORDER BY due_at, id ${limited}`,
  );
  const read = db.prepare(
    `SELECT i.workflow, i.instance_id, r.run_number, r.kind, r.due_at
     FROM ${names.run} r JOIN ${names.instance} i ON i.id = r.instance WHERE r.id = ?`,
  );

  return ({ before, limit }) =>
    connection.snapshot(() => {
      const found = workflows
        .all()
        .flatMap(([workflow]) =>
          pendingLanes.flatMap((lane) => first.all(workflow as string, lane, before, limit)),
        )
        .map((row) => ({ run: row[0] as number, dueAt: row[1] as number }))
        .sort((a, b) => a.dueAt - b.dueAt || a.run - b.run);
      return found.slice(0, limit).flatMap(({ run }) => {
        const row = read.get(run);
        return row === undefined ? [] : [readDue(row)];
      });
    });
}
