/** The tables of the server stores in one SQLite database in memory: one connection, and one transaction at a time. */
import { StoreError } from "../../../packages/everstep/src/model/error.ts";
import type { SqlRow, SqlValue } from "../../../packages/everstep/src/stores/sql/rows/row.ts";
import type {
  Database,
  SqlResult,
  Statement,
  Transaction,
} from "../../../packages/everstep/src/stores/sql/session.ts";
import type { SqliteDatabase, SqliteStatement } from "../../../packages/everstep/src/stores/sqlite/driver.ts";

/** Rows of the author's own, and what a transaction under way has made of them. */
export interface AuthorsPart {
  readonly rows: Map<string, unknown>;
  draft: Map<string, unknown> | null;
}

/** All processes of a world share it. */
export class RowsDatabase {
  readonly sqlite: SqliteDatabase;
  readonly authors: AuthorsPart = { rows: new Map(), draft: null };
  readonly #prepared = new Map<string, SqliteStatement<SqlRow>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(sqlite: SqliteDatabase) {
    this.sqlite = sqlite;
  }

  run(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    return this.#alone(async () => this.#runAll(statements));
  }

  transact<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#alone(async () => {
      this.sqlite.exec("BEGIN IMMEDIATE");
      this.authors.draft = null;
      const tx: Transaction = {
        client: this.authors,
        run: async (statements) => this.#runAll(statements),
        commit: async (statements) => {
          const results = this.#runAll(statements);
          this.#commit();
          return results;
        },
      };
      try {
        const result = await work(tx);
        if (this.sqlite.isTransaction) this.#commit();
        return result;
      } finally {
        if (this.sqlite.isTransaction) this.sqlite.exec("ROLLBACK");
      }
    });
  }

  /** One process's way to it. */
  connect(): Database {
    let isClosed = false;
    const open = async (): Promise<RowsDatabase> => {
      if (isClosed) throw new StoreError("fatal", "STORE_CLOSED", "This store has been closed.");
      return this;
    };
    return {
      run: async (statements) => (await open()).run(statements),
      transact: async (work) => (await open()).transact(work),
      async close() {
        isClosed = true;
      },
    };
  }

  #commit(): void {
    this.sqlite.exec("COMMIT");
    const { rows, draft } = this.authors;
    if (draft === null) return;
    rows.clear();
    for (const [key, value] of draft) rows.set(key, value);
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  #runAll(statements: readonly Statement[]): readonly SqlResult[] {
    return statements.map((statement) => this.#runOne(statement));
  }

  #runOne({ sql, values }: Statement): SqlResult {
    try {
      let prepared = this.#prepared.get(sql);
      if (prepared === undefined) {
        prepared = this.sqlite.prepare(sql);
        this.#prepared.set(sql, prepared);
      }
      const given = values as readonly SqlValue[];
      if (/^\s*(SELECT|WITH)/i.test(sql)) return { rows: prepared.all(...given), changes: 0 };
      return { rows: [], changes: prepared.run(...given).changes };
    } catch (error) {
      throw asStoreError(error, sql);
    }
  }
}

function asStoreError(error: unknown, sql: string): StoreError {
  const { message } = error as Error;
  const isTaken = /UNIQUE constraint|PRIMARY KEY/.test(message);
  return new StoreError(isTaken ? "constraint" : "fatal", "STORE_FAILED", `${message} in: ${sql}`, {
    cause: error,
  });
}
