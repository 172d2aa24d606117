import { type LogLevel, type LogLine, logLevels, type StoredLogLine } from "../../model/log-line.ts";
import { readRecord, recordText } from "./record-text.ts";
import { unreadable } from "./reply.ts";

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
