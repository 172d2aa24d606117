import type { TopicWaiter } from "../../../store/store.ts";
import { integer, type SqlRow, text } from "./row.ts";

export function readWaiter(row: SqlRow): TopicWaiter {
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    runNumber: integer(row, "run_number"),
    stepKey: text(row, "key"),
    topic: text(row, "topic"),
    deadlineAt: integer(row, "wake_at"),
  };
}
