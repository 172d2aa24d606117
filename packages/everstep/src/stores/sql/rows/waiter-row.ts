import type { TopicWaiter } from "../../../store/store.ts";
import { flag, integer, type SqlRow, text } from "./row.ts";

/** For a wait `s`: whether its event has come and was not delivered yet. */
export function hasEvent(eventTable: string): string {
  return (
    "CASE WHEN EXISTS (" +
    `SELECT 1 FROM ${eventTable} e WHERE e.run = s.run AND e.for_step = s.key AND e.delivered_at IS NULL` +
    ") THEN 1 ELSE 0 END AS has_event"
  );
}

export function readWaiter(row: SqlRow): TopicWaiter {
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    runNumber: integer(row, "run_number"),
    stepKey: text(row, "key"),
    topic: text(row, "topic"),
    deadlineAt: integer(row, "wake_at"),
    hasEvent: flag(row, "has_event"),
  };
}
