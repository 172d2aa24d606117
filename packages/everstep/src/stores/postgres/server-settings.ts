/** What the server says about itself: its clock, and settings under which it may lose what it has acknowledged. */
import type { StoreWarning } from "../../store/store.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { Database } from "../sql/session.ts";

export async function readServerTime(database: Database): Promise<number> {
  const sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
  const [read] = await database.run([{ sql, values: [] }], "renewal");
  return integer(read?.rows[0] ?? {}, "now");
}

export async function readWarnings(database: Database): Promise<readonly StoreWarning[]> {
  const names = Object.keys(unsafe).map((name) => `'${name}'`);
  const sql = `SELECT s.name, s.setting FROM pg_catalog.pg_settings s WHERE s.name IN (${names.join(", ")})`;
  const [read] = await database.run([{ sql, values: [] }]);
  return read?.rows.filter(isOff).map((row) => unsafe[text(row, "name")] as StoreWarning) ?? [];
}

function isOff(row: SqlRow): boolean {
  return text(row, "setting") === "off";
}

const unsafe: Readonly<Record<string, StoreWarning>> = {
  fsync: {
    code: "FSYNC_OFF",
    message:
      "PostgreSQL runs with fsync = off: a crash of its host can damage the whole database. Set fsync = on.",
  },
  full_page_writes: {
    code: "FULL_PAGE_WRITES_OFF",
    message:
      "PostgreSQL runs with full_page_writes = off: a crash of its host can damage pages that were half written. " +
      "Set full_page_writes = on, unless its file system writes pages whole.",
  },
  synchronous_commit: {
    code: "SYNCHRONOUS_COMMIT_OFF",
    message:
      "PostgreSQL runs with synchronous_commit = off: a crash can take the last acknowledged steps with it, and they " +
      "run again. Set synchronous_commit = on for this database or user.",
  },
};
