/** One open database: how it is opened, how it writes, and statements that are given as data. */

import { closeSync, openSync, statSync } from "node:fs";
import { StoreError } from "../../model/error.ts";
import type { MigrationReport } from "../../store/store.ts";
import { answer, type Changing, isReading, type Query, type Read, type Rows } from "../sql/reads/query.ts";
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import type { SqliteDatabase } from "./driver.ts";
import { type FailedWhile, placeOf, resultCode, rowFailure, storeFailure } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";
import { migrateSchema, tableNames } from "./schema.ts";

/** One open database: its settings applied, its table names known, and the only way to write: an immediate transaction. */
export interface Connection {
  readonly settings: SqliteSettings;
  readonly db: SqliteDatabase;
  readonly names: TableNames;
  /**
   * Runs the body in BEGIN IMMEDIATE ... COMMIT. A deferred transaction that reads before it writes would fail at once
   * when another process writes in between, whatever the busy timeout.
   */
  transact<Result>(body: () => Result): Result;
  /**
   * The same without waiting for the disk, for what only says who holds which run. It survives the process. When the
   * machine fails it may be lost, but then its holder is gone too, and everything that was made durable after it was
   * written behind it in the same log.
   */
  transactLeases<Result>(body: () => Result): Result;
  /** Several reads of one moment. Takes no lock that anybody would notice, and costs less than reads one by one. */
  snapshot<Result>(body: () => Result): Result;
}

/** Starting up may wait longer for other processes than a call may: nothing else runs yet. */
const startTimeoutMs = 5000;
const switchAttempts = 100;

export async function openConnection(
  settings: SqliteSettings,
): Promise<{ readonly connection: Connection; readonly migrated: MigrationReport }> {
  const { driver, file } = settings;
  let db: SqliteDatabase | undefined;
  try {
    if (file !== null) makeOwnFile(file);
    db = await driver.open(file ?? ":memory:", { busyTimeoutMs: startTimeoutMs, create: true });
    // Read before anything is written: a file that is no database must stay as it is.
    db.prepare("PRAGMA schema_version").get();
    prepareFile(db, settings);
    const migrated = migrateSchema(db, settings);
    db.exec(`PRAGMA busy_timeout = ${settings.busyTimeoutMs}`);
    return { connection: connectionOver(db, settings), migrated };
  } catch (error) {
    db?.close();
    throw storeFailure(error, settings, "opening");
  }
}

export function connectionOver(db: SqliteDatabase, settings: SqliteSettings): Connection {
  return { settings, db, names: tableNames(settings.namespace), ...transactions(db, settings) };
}

function prepareFile(db: SqliteDatabase, settings: SqliteSettings): void {
  if (settings.file !== null) switchToWal(db, settings);
  db.exec(`
    PRAGMA synchronous = ${settings.synchronous};
    PRAGMA foreign_keys = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16384;
    PRAGMA journal_size_limit = 67108864;
  `);
}

/**
 * The switch needs the file for itself and may give up at once when another process makes it at the same moment. An
 * empty immediate transaction waits for that process; afterwards the file is usually in WAL mode already.
 */
function switchToWal(db: SqliteDatabase, settings: SqliteSettings): void {
  const mode = db.prepareTuples("PRAGMA journal_mode");
  for (let attempt = 1; mode.get()?.[0] !== "wal"; attempt += 1) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      if (mode.get()?.[0] !== "wal") throw withoutWal(settings);
    } catch (error) {
      const isBusy = ((resultCode(error, settings) ?? 0) & 0xff) === 5;
      if (!isBusy || attempt === switchAttempts) throw error;
      db.exec("BEGIN IMMEDIATE; COMMIT");
    }
  }
}

function withoutWal(settings: SqliteSettings): StoreError {
  return new StoreError(
    "fatal",
    "STORE_UNAVAILABLE",
    `${placeOf(settings)} cannot be put into WAL mode, which needs a local disk. Move it from the network file system.`,
  );
}

function transactions(
  db: SqliteDatabase,
  settings: SqliteSettings,
): Pick<Connection, "transact" | "transactLeases" | "snapshot"> {
  const beginWriting = db.prepare("BEGIN IMMEDIATE");
  const beginReading = db.prepare("BEGIN DEFERRED");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");

  // A full disk or an I/O error may have rolled back already. What went wrong first is what counts.
  const undo = (): void => {
    try {
      if (db.isTransaction) rollback.run();
    } catch {}
  };

  const run = <Result>(begin: typeof commit, body: () => Result): Result => {
    begin.run();
    let during: FailedWhile = "statement";
    try {
      const result = body();
      during = "commit";
      commit.run();
      return result;
    } catch (error) {
      undo();
      throw during === "commit" ? storeFailure(error, settings, during) : error;
    }
  };

  const waitsForDisk = settings.file !== null && settings.synchronous === "full";
  const withoutWaiting = <Result>(act: () => Result): Result => {
    db.exec("PRAGMA synchronous = normal");
    try {
      return act();
    } finally {
      db.exec("PRAGMA synchronous = full");
    }
  };

  return {
    transact: (body) => run(beginWriting, body),
    transactLeases: (body) =>
      waitsForDisk ? withoutWaiting(() => run(beginWriting, body)) : run(beginWriting, body),
    snapshot: (body) => run(beginReading, body),
  };
}

/**
 * A new file is for its owner alone: params and results of everybody's work are in it. What SQLite lays beside it (-wal,
 * -shm) has the same mode. A file that is there keeps its own.
 */
function makeOwnFile(file: string): void {
  try {
    closeSync(openSync(file, "ax", 0o600));
  } catch {
    // It is there, or cannot be: whoever opens it says so.
  }
}

/**
 * A file that is removed or replaced while it is open goes on without a name: everything is answered as ever, and gone
 * with the process. So is what stands in its log (-wal), which SQLite itself leaves alone as long as it is open. That is
 * looked for once a second.
 */
export interface SameFile {
  /** Throws where the file has another identity than when it was opened. */
  require(now: number): void;
}

const lookEveryMs = 1000;

export function sameFile(settings: SqliteSettings): SameFile {
  const { file } = settings;
  if (file === null) return { require: () => {} };
  const opened = identityOf(file);
  const log = `${file}-wal`;
  let openedLog = identityOf(log);
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    require(now) {
      // Clocks are set back too.
      if (Math.abs(now - lookedAt) < lookEveryMs) return;
      if (opened !== null && identityOf(file) !== opened) throw gone(settings);
      const foundLog = identityOf(log);
      openedLog ??= foundLog;
      if (foundLog !== openedLog) throw logGone(settings);
      lookedAt = now;
    },
  };
}

function identityOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

function gone(settings: SqliteSettings): StoreError {
  return new StoreError(
    "fatal",
    "STORE_FILE_GONE",
    `${placeOf(settings)} was removed or replaced while this process had it open: what it writes now would be gone with ` +
      "the process. Put the file back, or start the process again to begin with what is there.",
  );
}

function logGone(settings: SqliteSettings): StoreError {
  return new StoreError(
    "fatal",
    "STORE_FILE_GONE",
    `The log of ${placeOf(settings)} (its -wal file) was removed or replaced while this process had it open: what stands in it ` +
      "would be gone if the process were killed. Stop the process in the ordinary way, which puts it into the database.",
  );
}

/** Runs statements that are given as data; each text is prepared once. */
export interface Statements {
  ask<Result>(read: Read<Result>): Result;
  change<Result>(changing: Changing<Result>): Result;
  /** Without waiting for the disk. */
  keepLightly(statements: readonly Statement[]): void;
}

export function statements({ db, settings, snapshot, transact, transactLeases }: Connection): Statements {
  const prepare = keptByText((sql) => db.prepare(sql));
  const prepareTuples = keptByText((sql) => db.prepareTuples(sql));

  const rowsOf = ({ sql, values, columns, isOne }: Statement): Rows => {
    const given = values as readonly SqlValue[];
    if (columns === undefined || columns.length > namedMax) {
      const statement = prepare(sql);
      return isOne ? found(statement.get(...given)) : statement.all(...given);
    }
    const statement = prepareTuples(sql);
    if (!isOne) return statement.all(...given).map((tuple) => named(columns, tuple));
    const only = statement.get(...given);
    return only === undefined ? none : [named(columns, only)];
  };
  /** What the database says is its own failure; anything else may lie in one row. */
  const run = (statement: Statement): Rows => {
    try {
      return rowsOf(statement);
    } catch (error) {
      const isOfRow = resultCode(error, settings) === undefined;
      throw isOfRow ? rowFailure(error) : storeFailure(error, settings, "statement");
    }
  };
  const write = ({ sql, values }: Statement): void => {
    prepare(sql).run(...(values as readonly SqlValue[]));
  };

  return {
    ask(read) {
      const only = isReading(read) || read.statements.length > 1 ? undefined : read.statements[0];
      return only === undefined
        ? snapshot(() => answer(run, read))
        : (read as Query<never>).read([run(only)]);
    },
    change: (changing) =>
      transact(() => {
        const { result, statements } = answer(run, changing);
        for (const statement of statements) write(statement);
        return result;
      }),
    keepLightly: (statements) =>
      transactLeases(() => {
        for (const statement of statements) write(statement);
      }),
  };
}

function keptByText<Prepared>(prepare: (sql: string) => Prepared): (sql: string) => Prepared {
  const kept = new Map<string, Prepared>();
  let lastText: string | undefined;
  let last: Prepared;
  return (sql) => {
    // When many keys are looked up, the same text is asked for again and again.
    if (sql === lastText) return last;
    const known = kept.get(sql);
    last = known ?? prepare(sql);
    lastText = sql;
    if (known === undefined) kept.set(sql, last);
    return last;
  };
}

const none: Rows = [];

function found(row: SqlRow | undefined): Rows {
  return row === undefined ? none : [row];
}

/** Objects with more properties, set one by one, cost more than those that the library makes. */
const namedMax = 12;

/** By name, which the library does too, but for few columns at twice the price. */
function named(columns: readonly string[], tuple: readonly unknown[]): SqlRow {
  const row: Record<string, unknown> = {};
  for (let n = 0; n < columns.length; n += 1) row[columns[n] as string] = tuple[n];
  return row;
}
