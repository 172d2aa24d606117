import { type TaskKind, taskKinds } from "../../../model/task.ts";
import type { DueRun } from "../../../store/store.ts";
import { integer, type SqlRow, text } from "./row.ts";

export function readDue(row: SqlRow): DueRun {
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
