import type { EventRecord } from "../../../model/event.ts";
import { columnNames } from "../schema/table.ts";
import { readValue } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull } from "./row.ts";

/** In the order of `eventValues`; an event is born undelivered. `id` is its key (event-row.ts). */
export const eventColumns = columnNames("event").filter(
  (column) => column !== "delivered_at" && column !== "consumed_by",
);

export function eventValues(
  run: number,
  event: Omit<EventRecord, "deliveredAt" | "consumedBy">,
  key: string = event.id,
): SqlValue[] {
  return [
    run,
    event.seq,
    key,
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

/**
 * Under which keys events and publications are kept, one space of keys for each of them: `~<scope>:<id>`. The scope of an
 * event is its instance, of an event that a publication made `p`, of a publication its topic. So the ids of one instance
 * or topic mean nothing to another, and no id that anybody gives makes a key of another scope.
 *
 * Rows of earlier versions have their ids as they were given. They are found by them, but only for what they belong to.
 */
export function sentKey(instance: number, id: string): string {
  return `~${instance}:${id}`;
}

/** The same as an expression. */
export const sentKeyText = (instance: string, id: string): string => `concat('~', ${instance}, ':', ${id})`;

export function publishedKey(publicationId: string, run: number, index: number): string {
  return `~p:${publicationId}:${run}:${index}`;
}

export const publishedKeyText = (publicationId: string, run: string, index: string): string =>
  `concat('~p:', ${publicationId}, ':', ${run}, ':', ${index})`;

/** Where a database has room for it, the topic itself. */
function plainTopic(topic: string): string {
  return topic.replaceAll("%", "%25").replaceAll(":", "%3A");
}

export function publicationKey(
  { topic, id }: { readonly topic: string; readonly id: string },
  scopeOf: (topic: string) => string = plainTopic,
): string {
  return `~${scopeOf(topic)}:${id}`;
}

/** What it was called by whoever sent it. */
export function idOf(key: string): string {
  return isKey(key) ? key.slice(key.indexOf(":") + 1) : key;
}

export function isKey(text: string): boolean {
  return /^~[^:]*:/.test(text);
}
