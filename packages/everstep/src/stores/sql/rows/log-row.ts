import { type LogLine, logLevels, type StoredLogLine } from "../../../model/log-line.ts";
import { columnNames } from "../schema/table.ts";
import { readValueOrNull } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull, word } from "./row.ts";

/** In the order of `logValues`. */
export const logColumns = columnNames("log");

export function logValues(run: number, seq: number, line: LogLine): SqlValue[] {
  return [
    run,
    seq,
    line.stepKey,
    line.attempt,
    line.level,
    line.category,
    line.message,
    line.isReplay ? 1 : 0,
    line.createdAt,
    line.data === null ? null : line.data.json,
    line.data === null ? null : line.data.marks,
  ];
}

export function readLog(row: SqlRow): StoredLogLine {
  return {
    seq: integer(row, "seq"),
    stepKey: textOrNull(row, "step_key"),
    attempt: integerOrNull(row, "attempt"),
    level: word(row, "level", logLevels),
    category: text(row, "category"),
    message: text(row, "message"),
    data: readValueOrNull(row, "data"),
    isReplay: flag(row, "is_replay"),
    createdAt: integer(row, "created_at"),
  };
}
