import type { LogLine } from "../../model/log-line.ts";
import { logColumns, logValues } from "../sql/log-row.ts";
import type { Connection } from "./connection.ts";
import type { HotRow } from "./hot-row.ts";

/** Lines that come with no commit, behind those that are there. */
export function appendsLogs({ db, names }: Connection): (row: HotRow, lines: readonly LogLine[]) => void {
  const insert = db.prepare(
    `INSERT INTO ${names.log} (${logColumns.join(", ")}) VALUES (${logColumns.map(() => "?").join(", ")})`,
  );
  const count = db.prepare(`UPDATE ${names.run} SET log_seq = ? WHERE id = ?`);
  return (row, lines) => {
    if (lines.length === 0) return;
    for (const [n, line] of lines.entries()) insert.run(...logValues(row.run, row.logSeq + 1 + n, line));
    count.run(row.logSeq + lines.length, row.run);
  };
}
