import type { EventRecord } from "../../../model/event.ts";
import { type LogLevel, type LogLine, logLevels, type StoredLogLine } from "../../../model/log-line.ts";
import type { EncodedValue } from "../../../model/value.ts";
import { integer, integerOrNull, type Reply, text, textOrNull, unreadable } from "../server/script-values.ts";
import { readRecord, recordText } from "./record-text.ts";

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

const fields = 5;

/** Level and category stand before the record, where a script can compare them. */
export function logText(line: LogLine): string {
  const header = [line.stepKey, line.attempt, line.message, line.isReplay, line.createdAt];
  return levelMark(line.level) + categoryMark(line.category) + recordText(header, line.data);
}

export function levelMark(level: LogLevel): string {
  return level.charAt(0);
}

/** The length says where the category ends. */
export function categoryMark(category: string): string {
  return `${category.length}:${category}`;
}

export function readLog(seq: number, line: string): StoredLogLine {
  const level = logLevels.find((each) => levelMark(each) === line.charAt(0));
  const length = /^(\d+):/.exec(line.slice(1));
  if (level === undefined || length === null) throw unreadable("a log line", line);
  const start = 1 + length[0].length;
  const end = start + Number(length[1]);
  const { header, value } = readRecord(line.slice(end), fields);
  const [stepKey, attempt, message, isReplay, createdAt] = header as [
    string | null,
    number | null,
    string,
    boolean,
    number,
  ];
  const category = line.slice(start, end);
  return { seq, stepKey, attempt, level, category, message, data: value, isReplay, createdAt };
}
