import { type TaskKind, taskKinds } from "../../../model/task.ts";
import { pendingLanes } from "../../../store/apply/lane.ts";
import type { DueQuery, DueRun } from "../../../store/store.ts";
import { integer, type SqlRow, text } from "../rows/row.ts";
import type { ReadDialect } from "./dialect.ts";
import type { Reading } from "./query.ts";
import { runsOf, workflowsOf } from "./strands.ts";

export type ListDue = (query: DueQuery) => Reading<readonly DueRun[]>;

/** What wants a turn, soonest first. */
export function dueList(dialect: ReadDialect): ListDue {
  const runs = runsOf(dialect, "run", ["i.workflow", "i.instance_id", "r.run_number", "r.kind", "r.due_at"]);
  return function* ({ before, limit }) {
    const rows = yield* runs({
      index: "claim",
      workflows: yield* workflowsOf(dialect, undefined),
      among: { column: "lane", values: pendingLanes },
      key: ["due_at", "id"],
      ascending: true,
      where: { sql: "AND r.due_at <= ?", values: [before] },
      limit,
    });
    return rows.map(readDue);
  };
}

function readDue(row: SqlRow): DueRun {
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    runNumber: integer(row, "run_number"),
    kind: readKind(row),
    dueAt: integer(row, "due_at"),
  };
}

/** A word that nobody knows must not hide what else is due. */
function readKind({ kind }: SqlRow): TaskKind {
  return taskKinds.find((known) => known === kind) ?? "resume";
}
