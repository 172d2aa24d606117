import type { EventRecord } from "../../../model/event.ts";
import { columnNames } from "../schema/table.ts";
import { idOf } from "./event-key.ts";
import { readValue } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull } from "./row.ts";

/** In the order of `eventValues`; an event is born undelivered. `id` is its key (event-key.ts). */
export const eventColumns = columnNames("event").filter(
  (column) => column !== "delivered_at" && column !== "consumed_by",
);

export function eventValues(run: number, event: Omit<EventRecord, "deliveredAt" | "consumedBy">): SqlValue[] {
  return [
    run,
    event.seq,
    event.id,
    event.type,
    event.topic,
    event.forStep,
    event.system ? 1 : 0,
    event.createdAt,
    event.payload.json,
    event.payload.marks,
  ];
}

export function readEvent(row: SqlRow): EventRecord {
  return {
    seq: integer(row, "seq"),
    id: idOf(text(row, "id")),
    type: textOrNull(row, "type"),
    topic: textOrNull(row, "topic"),
    forStep: textOrNull(row, "for_step"),
    system: flag(row, "is_system"),
    payload: readValue(row, "payload"),
    createdAt: integer(row, "created_at"),
    deliveredAt: integerOrNull(row, "delivered_at"),
    consumedBy: textOrNull(row, "consumed_by"),
  };
}
