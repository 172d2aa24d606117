/**
 * The little that the store needs from an SQLite library. Everything is synchronous but opening, so that whatever
 * library the runtime has (node:sqlite, bun:sqlite, better-sqlite3, a Durable Object's storage) fits behind it.
 */

import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { EverstepError } from "../../model/error.ts";
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";

export interface SqliteDriver {
  open(path: string, options: SqliteOpenOptions): Promise<SqliteDatabase>;
  /** Makes a database object of the library's own usable; undefined when the value is none. */
  adopt(handle: unknown): SqliteDatabase | undefined;
  /** SQLite's extended result code of an error it raised; undefined for every other error. */
  resultCode(error: unknown): number | undefined;
}

export interface SqliteOpenOptions {
  readonly busyTimeoutMs: number;
  /** False: fail when there is no such file. */
  readonly create: boolean;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement<SqlRow>;
  /** The same, with rows as arrays: cheaper, for the hottest reads. */
  prepareTuples(sql: string): SqliteStatement<readonly unknown[]>;
  readonly isTransaction: boolean;
  /** The library's own database object; what authors' mutations get to see. */
  readonly handle: object;
  close(): void;
}

/** Values are bound to `?` in order; numbered and named parameters are not used, libraries disagree about them. */
export interface SqliteStatement<Row> {
  run(...values: readonly SqlValue[]): { readonly changes: number };
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): readonly Row[];
}

/** The SQLite that comes with Node. The only file that knows it. */
export const nodeDriver: SqliteDriver = {
  async open(path, options) {
    const { DatabaseSync } = await load();
    const database = new DatabaseSync(options.create ? path : existing(path), {
      timeout: options.busyTimeoutMs,
      enableForeignKeyConstraints: false,
    });
    // Came with the busy timeout and rows as arrays; without it nobody knows whether there is anything to roll back.
    if (typeof database.isTransaction !== "boolean") throw unsupported();
    // Deno does not look at the option, and would let everything else wait for five seconds.
    database.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`);
    return wrap(database);
  },

  // Told by what it can do: a value of another copy of the class is as good.
  adopt(handle) {
    const isDatabase = typeof handle === "object" && handle !== null && "isTransaction" in handle;
    return isDatabase && "prepare" in handle ? wrap(handle as DatabaseSync) : undefined;
  },

  resultCode(error) {
    if (!(error instanceof Error)) return undefined;
    const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
    if (typeof errcode === "number") return errcode;
    return code === "ERR_SQLITE_ERROR" ? resultCodeOf(error.message) : undefined;
  },
};

async function load(): Promise<typeof import("node:sqlite")> {
  try {
    return await import("node:sqlite");
  } catch (cause) {
    throw unsupported(cause);
  }
}

function unsupported(cause?: unknown): EverstepError {
  return new EverstepError(
    "RUNTIME_UNSUPPORTED",
    "This runtime has no node:sqlite, or one that is too old. Use Node 22.18 or later, or pass another " +
      "`driver` to sqlite().",
    cause === undefined ? {} : { cause },
  );
}

function existing(path: string): URL {
  const url = pathToFileURL(path);
  url.search = "mode=rw";
  return url;
}

function wrap(database: DatabaseSync): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => prepare<SqlRow>(database, sql, false),
    prepareTuples: (sql) => prepare<readonly unknown[]>(database, sql, true),
    get isTransaction() {
      return database.isTransaction;
    },
    handle: database,
    close: () => database.close(),
  };
}

/** Both are said for each statement: a handle that was adopted may have been opened with other defaults. */
function prepare<Row>(database: DatabaseSync, sql: string, asTuples: boolean): SqliteStatement<Row> {
  const statement = database.prepare(sql);
  statement.setReadBigInts(false);
  statement.setReturnArrays(asTuples);
  return statement as unknown as SqliteStatement<Row>;
}

/**
 * Result codes by what SQLite says of them, for runtimes whose errors do not always carry the number: Deno's do not when
 * a file is opened, nor when statements are executed without being prepared.
 */
const codes: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["database schema is locked", 6],
  ["out of memory", 7],
  ["attempt to write a readonly database", 8],
  ["interrupted", 9],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["locking protocol", 15],
  ["database schema has changed", 17],
  ["string or blob too big", 18],
  ["UNIQUE constraint failed", 2067],
  ["NOT NULL constraint failed", 1299],
  ["FOREIGN KEY constraint failed", 787],
  ["CHECK constraint failed", 275],
  ["constraint failed", 19],
  ["datatype mismatch", 20],
  ["authorization denied", 23],
  ["file is not a database", 26],
];

/** Whatever else SQLite complains about is an error of the statement: its code is 1. */
function resultCodeOf(text: string): number {
  return codes.find(([beginning]) => text.startsWith(beginning))?.[1] ?? 1;
}
