/**
 * A file that is removed or replaced while it is open goes on without a name: everything is answered as ever, and gone
 * with the process. So is what stands in its log (-wal), which SQLite itself leaves alone as long as it is open. That is
 * looked for once a second.
 */
import { statSync } from "node:fs";
import { StoreError } from "../../model/error.ts";
import { placeOf } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";

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
