/** One open database: its settings applied, its table names known, and the only way to write: an immediate transaction. */
import { StoreError } from "../../model/error.ts";
import type { MigrationReport } from "../../store/store.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { SqliteDatabase } from "./driver.ts";
import { type FailedWhile, placeOf, resultCode, storeFailure } from "./failures.ts";
import { migrateSchema } from "./migrate.ts";
import type { SqliteSettings } from "./options.ts";
import { makeOwnFile } from "./own-file.ts";
import { tableNames } from "./schema.ts";

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
    const names = tableNames(settings.namespace);
    const migrated = migrateSchema(db, names, settings);
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
