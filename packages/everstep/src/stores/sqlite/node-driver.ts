/** The SQLite that comes with Node. The only file that knows it. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { EverstepError } from "../../model/error.ts";
import type { SqlRow } from "../sql/row.ts";
import type { SqliteDatabase, SqliteDriver, SqliteStatement } from "./driver.ts";

export const nodeDriver: SqliteDriver = {
  async open(path, options) {
    const { DatabaseSync } = await load();
    const database = new DatabaseSync(options.create ? path : existing(path), {
      timeout: options.busyTimeoutMs,
      enableForeignKeyConstraints: false,
    });
    return wrap(database);
  },

  resultCode(error) {
    if (!(error instanceof Error) || !("errcode" in error)) return undefined;
    return typeof error.errcode === "number" ? error.errcode : undefined;
  },
};

async function load(): Promise<typeof import("node:sqlite")> {
  try {
    return await import("node:sqlite");
  } catch (cause) {
    throw new EverstepError(
      "RUNTIME_UNSUPPORTED",
      "This runtime has no node:sqlite. Use Node 22.13 or later, or pass another `driver` to sqlite().",
      { cause },
    );
  }
}

function existing(path: string): URL {
  const url = pathToFileURL(path);
  url.search = "mode=rw";
  return url;
}

function wrap(database: DatabaseSync): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql) as unknown as SqliteStatement<SqlRow>,
    prepareTuples: (sql) => tuples(database.prepare(sql)),
    get isTransaction() {
      return database.isTransaction;
    },
    handle: database,
    close: () => database.close(),
  };
}

function tuples(statement: StatementSync): SqliteStatement<readonly unknown[]> {
  // Node before 22.16 has rows as objects only; their values keep the order of the columns.
  if (typeof statement.setReturnArrays !== "function") {
    return {
      run: (...values) => statement.run(...(values as never[])) as { changes: number },
      get: (...values) => {
        const row = statement.get(...(values as never[]));
        return row === undefined ? undefined : Object.values(row);
      },
      all: (...values) => statement.all(...(values as never[])).map(Object.values),
    };
  }
  statement.setReturnArrays(true);
  return statement as unknown as SqliteStatement<readonly unknown[]>;
}
