/** The SQLite that comes with Node. The only file that knows it. */
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { EverstepError } from "../../model/error.ts";
import type { SqlRow } from "../sql/rows/row.ts";
import type { SqliteDatabase, SqliteDriver, SqliteStatement } from "./driver.ts";
import { resultCodeOf } from "./result-texts.ts";

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
