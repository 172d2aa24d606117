import { readOptions, type SqliteOptions } from "./options.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** Keeps workflows in one SQLite file (or ":memory:"). Nothing is opened before the first call. */
export function sqlite(path: string | SqliteOptions): SqliteStore {
  return new SqliteStore(readOptions(path));
}

export type { SqliteDatabase, SqliteDriver, SqliteOpenOptions, SqliteStatement } from "./driver.ts";
export type { SqliteOptions } from "./options.ts";
export type { SqliteStore } from "./sqlite-store.ts";
