/** Writes inside a transaction that the caller began, on the caller's own connection to the same file. */
import { EverstepError } from "../../model/error.ts";
import type { CreateRequest, SendEventRequest, StoreOutcome } from "../../store/store.ts";
import { connectionOver } from "./connection.ts";
import type { SqliteDatabase } from "./driver.ts";
import type { SqliteSettings } from "./options.ts";
import { type Write, writes } from "./write.ts";

export class JoinedTransactions {
  readonly #settings: SqliteSettings;
  /** Statements are prepared once for every connection that joins. */
  readonly #known = new WeakMap<object, Joined>();

  constructor(settings: SqliteSettings) {
    this.#settings = settings;
  }

  write(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): readonly StoreOutcome[] {
    const { db, write } = this.#joined(tx);
    if (!db.isTransaction) throw unfit("has no open transaction: run BEGIN IMMEDIATE first");
    return write(requests, now);
  }

  #joined(tx: unknown): Joined {
    const db = this.#settings.driver.adopt(tx);
    if (db === undefined) throw unfit("is no database object of the SQLite library in use");
    const known = this.#known.get(db.handle);
    if (known !== undefined) return known;
    const { file } = db.prepare("PRAGMA database_list").get() ?? {};
    if (file !== this.#settings.file)
      throw unfit(`is open on ${JSON.stringify(file)}, which is another file`);
    const joined = { db, write: writes({ ...connectionOver(db, this.#settings), transact: savepoint(db) }) };
    this.#known.set(db.handle, joined);
    return joined;
  }
}

interface Joined {
  readonly db: SqliteDatabase;
  readonly write: Write;
}

/** All or nothing within the caller's transaction, which goes on either way. */
function savepoint(db: SqliteDatabase): <Result>(body: () => Result) => Result {
  const mark = db.prepare("SAVEPOINT everstep_join");
  const keep = db.prepare("RELEASE everstep_join");
  const undo = db.prepare("ROLLBACK TO everstep_join");
  return (body) => {
    mark.run();
    try {
      const result = body();
      keep.run();
      return result;
    } catch (error) {
      if (db.isTransaction) {
        undo.run();
        keep.run();
      }
      throw error;
    }
  };
}

function unfit(what: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given ${what}. Pass the connection on which your transaction is open, on the store's own file.`,
  );
}
