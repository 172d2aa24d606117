import type { EventRecord } from "../../model/event.ts";
import type { EncodedValue } from "../../model/value.ts";
import { readRecord, recordText } from "./record-text.ts";
import { integer, integerOrNull, type Reply, text, textOrNull, unreadable } from "./reply.ts";

/** The rest of an event is kept where scripts can read it. */
export function eventText(topic: string | null, payload: EncodedValue): string {
  return recordText([topic], payload);
}

/** Replies that make up one event. */
export const eventReplies = 9;

export function readEvent(replies: readonly Reply[], start: number): EventRecord {
  const at = (place: number): Reply | undefined => replies[start + place];
  const record = text(at(1));
  const { header, value } = readRecord(record, 1);
  if (value === null) throw unreadable("a payload", record);
  return {
    seq: integer(at(0)),
    id: text(at(2)),
    type: textOrNull(at(3)),
    topic: header[0] as string | null,
    forStep: textOrNull(at(4)),
    system: at(5) === "1",
    payload: value,
    createdAt: integer(at(6)),
    deliveredAt: integerOrNull(at(7)),
    consumedBy: textOrNull(at(8)),
  };
}
