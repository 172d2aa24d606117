/** Transactions in which others write: authors' mutations in the store's own, and the store in those of its callers. */
import { realpathSync } from "node:fs";
import { EverstepError } from "../../model/error.ts";
import type { Mutation, Mutations } from "../../model/mutations.ts";
import type { CreateRequest, SendEventRequest, StoreOutcome } from "../../store/store.ts";
import { authorsHandle, endedTransaction, type HandleRules } from "../sql/write/authors-handle.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { SqliteDatabase } from "./driver.ts";
import { isUniqueViolation, resultCode, storeFailure } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";
import { hasOwnSchema } from "./schema.ts";
import { type Connection, connectionOver } from "./session.ts";
import type { Write, writes } from "./write.ts";

type RunMutations = (mutations: Mutations) => void;

/** Whatever goes wrong in them undoes the commit, and only that. */
export function mutations(connection: Connection): RunMutations {
  const { db } = connection;
  // It vanishes with the transaction it was made in: if it is still there, so is the transaction.
  const mark = db.prepare("SAVEPOINT everstep_mutations");
  const unmark = db.prepare("RELEASE everstep_mutations");

  return ({ serviceCalls, mutate }) => {
    mark.run();
    const { handle, revoke } = authorsHandle(db.handle, handleRules);
    try {
      for (const call of serviceCalls) runNow(call, handle);
      for (const mutation of mutate) runNow(mutation, handle);
    } catch (error) {
      throw refusal(error, connection);
    } finally {
      revoke();
    }
    try {
      unmark.run();
    } catch (cause) {
      throw new MutationRefused(false, endedTransaction(leaveCommit, cause));
    }
  };
}

function runNow(mutation: Mutation, handle: object): void {
  const result: unknown = mutation(handle);
  if (!isThenable(result)) return;
  // It will never be waited for; a rejection must not take the process down.
  Promise.resolve(result).catch(() => {});
  throw new EverstepError(
    "MUTATION_INVALID",
    "A mutation returned a promise. SQLite writes are synchronous: do the writes before returning, without `await`.",
  );
}

/** A full or failing disk is not the author's doing: it stays a failure of the store, which may be tried again. */
function refusal(error: unknown, { settings }: Connection): Error {
  const code = resultCode(error, settings);
  if (isUniqueViolation(code)) return new MutationRefused(true, error);
  return code !== undefined && isTrouble(code & 0xff)
    ? storeFailure(error, settings, "statement")
    : new MutationRefused(false, error);
}

function isTrouble(primaryCode: number): boolean {
  const troubles = [5, 6, 7, 8, 10, 11, 13, 14, 15, 26];
  return troubles.includes(primaryCode);
}

const handleRules: HandleRules = {
  what: "database handle",
  forbidden: ["close", "open", "deserialize", Symbol.dispose],
  control: /^(?:begin|commit|end|rollback(?!\s+(?:transaction\s+)?to\b))\b/i,
};

const leaveCommit = ". Leave BEGIN, COMMIT and ROLLBACK to the store.";

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Writes inside a transaction that the caller began, on the caller's own connection to the same file. */
export class JoinedTransactions {
  readonly #settings: SqliteSettings;
  readonly #begin: typeof writes;
  /** Statements are prepared once for every connection that joins. */
  readonly #known = new WeakMap<object, Joined>();

  constructor(settings: SqliteSettings, begin: typeof writes) {
    this.#settings = settings;
    this.#begin = begin;
  }

  write(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): readonly StoreOutcome[] {
    const db = this.#settings.driver.adopt(tx);
    if (db === undefined) throw unfit("is no database object of the SQLite library in use");
    if (!isInTransaction(db)) throw unfit("has no open transaction: run BEGIN IMMEDIATE first");
    return this.#joined(db).write(requests, now);
  }

  #joined(db: SqliteDatabase): Joined {
    const known = this.#known.get(db.handle);
    if (known?.isInForce()) return known;
    this.#requireOwnTables(db);
    const joined = join(db, this.#settings, this.#begin);
    this.#known.set(db.handle, joined);
    return joined;
  }

  #requireOwnTables(db: SqliteDatabase): void {
    const { file } = db.prepare("PRAGMA database_list").get() ?? {};
    if (!isSameFile(file, this.#settings.file))
      throw unfit(`is open on ${JSON.stringify(file)}, which is another file`);
    // The store's own connection would wait for the lock that the caller holds, so nothing is migrated here.
    if (!hasOwnSchema(db, this.#settings)) throw withoutTables();
  }
}

interface Joined {
  readonly write: Write;
  /** False once the caller has closed the handle, even if it is open again: its statements are gone. */
  isInForce(): boolean;
}

function join(db: SqliteDatabase, settings: SqliteSettings, begin: typeof writes): Joined {
  const probe = db.prepareTuples("SELECT 1");
  return {
    write: begin({ ...connectionOver(db, settings), transact: savepoint(db) }),
    isInForce: () => attempt(() => probe.get()) !== undefined,
  };
}

/** A handle that is closed throws instead of answering. */
function isInTransaction(db: SqliteDatabase): boolean {
  return attempt(() => db.isTransaction) ?? false;
}

/** SQLite reports the path with its links resolved; the store's own is as the user gave it. */
function isSameFile(file: unknown, own: string | null): boolean {
  return typeof file === "string" && file !== "" && own !== null && realPath(file) === realPath(own);
}

function realPath(file: string): string {
  return attempt(() => realpathSync.native(file)) ?? file;
}

function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
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

function withoutTables(): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    "The `tx` given cannot be written to: the tables are not there yet, or not up to date, and cannot be made while " +
      "your transaction is open; call app.migrate() or app.start() before you begin the transaction.",
  );
}

function unfit(what: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given ${what}. Pass the connection on which your transaction is open, on the store's own file.`,
  );
}
