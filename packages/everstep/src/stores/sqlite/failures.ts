/** What an error of SQLite means for the caller: may it be repeated, and what can a person do about it. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { type ErrorCode, EverstepError, StoreError, type StoreFailure } from "../../model/error.ts";
import { firstInChain } from "../sql/server/failures.ts";
import type { SqliteSettings } from "./options.ts";

/**
 * `opening`: the file was being opened and its tables brought up to date. `commit`: the statement that failed was COMMIT
 * itself, so after an I/O error its effect is unknown.
 */
export type FailedWhile = "opening" | "statement" | "commit";

export function storeFailure(error: unknown, settings: SqliteSettings, during: FailedWhile): EverstepError {
  if (error instanceof EverstepError) return error;
  if (isBeyondReading(error)) return beyondReading(error);
  const place = placeOf(settings);
  const code = resultCode(error, settings);
  if (code === undefined) return notFromSqlite(error, place);
  const { failure, reason, sentence } = meaning(code, place, settings, during);
  return new StoreError(failure, reason, `${sentence} (SQLite: ${messageOf(error)}, code ${code})`, {
    cause: error,
    details: { resultCode: code },
  });
}

/** What is wrong with a row that could not be read. */
export function rowFailure(error: unknown): Error {
  return isBeyondReading(error) ? beyondReading(error) : (error as Error);
}

/** What node:sqlite says of a row with a number that JavaScript has not: the row is damaged, not the database. */
function isBeyondReading(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";
}

function beyondReading(cause: unknown): EverstepError {
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `A stored row cannot be read: ${messageOf(cause)}. The row was changed by something else or is damaged; restore it from ` +
      "a backup or remove the instance.",
    { cause },
  );
}

export function resultCode(error: unknown, settings: SqliteSettings): number | undefined {
  return firstInChain(error, (at) => settings.driver.resultCode(at));
}

/** SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID: somebody else has taken that key. */
export function isUniqueViolation(code: number | undefined): boolean {
  return code === 1555 || code === 2067 || code === 2579;
}

export function placeOf(settings: SqliteSettings): string {
  return settings.file === null ? "The in-memory database" : `The database "${settings.file}"`;
}

interface Meaning {
  readonly failure: StoreFailure;
  readonly reason: ErrorCode;
  readonly sentence: string;
}

function meaning(code: number, place: string, settings: SqliteSettings, during: FailedWhile): Meaning {
  // The low byte is the primary code, the rest says more.
  switch (code & 0xff) {
    case 5: // BUSY
    case 6: // LOCKED
    case 15: // PROTOCOL
    case 17: // SCHEMA
      return is(
        "conflict",
        "STORE_BUSY",
        `${place} is being written by another process, or in a transaction of your own that is still open; ` +
          (during === "opening" ? migrateFirst : "try again in a moment."),
      );
    case 7: // NOMEM
      return is("unavailable", "STORE_UNAVAILABLE", `${place} could not be used: out of memory.`);
    case 8: // READONLY
      return is("fatal", "STORE_READ_ONLY", `${place} cannot be written. ${allowWriting}`);
    case 10: // IOERR
      return during === "commit"
        ? is(
            "ambiguous",
            "STORE_UNAVAILABLE",
            `${place} failed while committing; whether it did is unknown. ${lookAtDisk}`,
          )
        : is("unavailable", "STORE_UNAVAILABLE", `${place} could not be read or written. ${lookAtDisk}`);
    case 11: // CORRUPT
      return is("fatal", "STORE_CORRUPT", `${place} is damaged. Restore it from a backup.`);
    case 13: // FULL
      return is(
        "unavailable",
        "STORE_FULL",
        `${place} cannot grow: the disk or its quota is full. Free some space.`,
      );
    case 14: // CANTOPEN
      return cannotOpen(place, settings);
    case 18: // TOOBIG
      return is(
        "too-large",
        "PAYLOAD_TOO_LARGE",
        `A value is larger than ${lower(place)} can keep in one row.`,
      );
    case 19: // CONSTRAINT
      return is("constraint", "STORE_FAILED", `${place} refused a row that breaks one of its rules.`);
    case 26: // NOTADB
      return is(
        "fatal",
        "STORE_CORRUPT",
        `${place} is not an SQLite database, or is encrypted or damaged; it was not touched. Check the path.`,
      );
    default:
      return is("fatal", "STORE_FAILED", `${place} refused a statement.`);
  }
}

function cannotOpen(place: string, settings: SqliteSettings): Meaning {
  const folder = settings.file === null ? null : dirname(settings.file);
  if (folder !== null && !existsSync(folder)) {
    return is(
      "fatal",
      "STORE_UNAVAILABLE",
      `${place} cannot be opened: there is no folder "${folder}". Create it.`,
    );
  }
  if (folder !== null && !isWritable(folder)) {
    return is(
      "fatal",
      "STORE_READ_ONLY",
      `${place} cannot be opened: its folder cannot be written. ${allowWriting}`,
    );
  }
  return is(
    "fatal",
    "STORE_UNAVAILABLE",
    `${place} cannot be opened. Check that the path names a file this process may open.`,
  );
}

const allowWriting =
  "SQLite needs to write the file and its folder (for the -wal and -shm files beside it): give this process the right to.";
const migrateFirst =
  "try again in a moment, and call app.migrate() or app.start() before you begin a transaction of your own.";
const lookAtDisk = "Check the disk and the file's folder.";

function is(failure: StoreFailure, reason: ErrorCode, sentence: string): Meaning {
  return { failure, reason, sentence };
}

function notFromSqlite(error: unknown, place: string): StoreError {
  return new StoreError("fatal", "STORE_FAILED", `${place} could not be used: ${messageOf(error)}.`, {
    cause: error,
  });
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function lower(place: string): string {
  return place.replace(/^The/, "the");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
