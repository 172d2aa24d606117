/**
 * Proof of life: a runner holds an exclusive transaction on a small file of its own beside the database. The operating
 * system releases the lock however the process dies, so whoever can take it knows that the owner is gone.
 *
 * A file is removed only by whoever holds its lock. So a lock that was taken on a file which is still there afterwards
 * is the owner's for good; if it is not there any more, a finder was faster and the file is made again.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EverstepError, StoreError } from "../../model/error.ts";
import type { OwnerHold, Ownership } from "../../store/store.ts";
import type { SqliteDatabase } from "./driver.ts";
import { resultCode, storeFailure } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";

/** How long a new owner waits for a finder that is looking at its file; finders look for microseconds. */
const holdTimeoutMs = 250;
const holdAttempts = 20;
const ownerName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function ownership(settings: SqliteSettings & { readonly file: string }): Ownership {
  const placeOf = (owner: string): OwnerFile => {
    const folder = folderOf(settings.file);
    return { folder, path: join(folder, `${checked(owner)}.${settings.namespace}`) };
  };

  return {
    async hold(owner) {
      const file = placeOf(owner);
      const lock = await takeNew(file, settings);
      heldHere.add(file.path);
      return holdOf(lock, file);
    },

    async findDead() {
      const dead: string[] = [];
      for (const owner of ownersIn(folderOf(settings.file), settings.namespace)) {
        if (await isFree(placeOf(owner), settings)) dead.push(owner);
      }
      return dead;
    },

    async bury(owner) {
      const file = placeOf(owner);
      if (heldHere.has(file.path)) return;
      const lock = await take(file, settings, { create: false, busyTimeoutMs: 0 });
      if (isLock(lock)) removeLocked(lock, file);
    },
  };
}

interface OwnerFile {
  readonly folder: string;
  readonly path: string;
}

/** Beside the real file, so that processes which know it under different names meet. */
function folderOf(file: string): string {
  const real =
    attempt(() => realpathSync(file)) ?? attempt(() => join(realpathSync(dirname(file)), basename(file)));
  return `${real ?? file}-owners`;
}

/**
 * Files held by this process, over all stores in it. Never looked at again: closing a second handle on a file may
 * drop the locks that the process has on it.
 */
const heldHere: Set<string> = processWide("everstep.sqlite.owners", () => new Set<string>());

function processWide<Value>(name: string, make: () => Value): Value {
  const shared = globalThis as unknown as Record<symbol, Value | undefined>;
  const key = Symbol.for(name);
  shared[key] ??= make();
  return shared[key];
}

async function takeNew(file: OwnerFile, settings: SqliteSettings): Promise<SqliteDatabase> {
  for (let n = 1; n <= holdAttempts; n += 1) {
    makeFolder(file.folder);
    const lock = await take(file, settings, { create: true, busyTimeoutMs: holdTimeoutMs });
    if (lock === "busy") break;
    if (lock === "gone") continue;
    if (existsSync(file.path)) return lock;
    lock.close();
  }
  throw cannotHold(file.path);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: modeFor(folder) });
  } catch (cause) {
    if (!existsSync(folder)) throw cannotHold(folder, cause);
  }
}

/** Whoever may open a lock file may hold its lock: where the database is for its owner alone, the locks are too. */
function modeFor(folder: string): number {
  const mode = attempt(() => statSync(folder.replace(/-owners$/, "")).mode);
  return mode !== undefined && (mode & 0o077) === 0 ? 0o700 : 0o777;
}

async function isFree(file: OwnerFile, settings: SqliteSettings): Promise<boolean> {
  if (heldHere.has(file.path)) return false;
  try {
    const lock = await take(file, settings, { create: false, busyTimeoutMs: 0 });
    if (!isLock(lock)) return false;
    lock.close();
    return true;
  } catch {
    // A file that cannot be looked at proves nothing, and must not hide the others.
    return false;
  }
}

/** `busy`: another process has the lock. `gone`: there is no such file or folder. */
async function take(
  { path }: OwnerFile,
  settings: SqliteSettings,
  how: { readonly create: boolean; readonly busyTimeoutMs: number },
): Promise<SqliteDatabase | "busy" | "gone"> {
  let database: SqliteDatabase | undefined;
  try {
    database = await settings.driver.open(path, how);
    // Nothing is ever written, so there is nothing to keep a journal of.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    const primary = (resultCode(error, settings) ?? 0) & 0xff;
    if (primary === 5) return "busy";
    if (primary === 14 && !existsSync(path)) return "gone";
    throw storeFailure(error, { ...settings, file: path }, "statement");
  }
}

function isLock(taken: SqliteDatabase | string): taken is SqliteDatabase {
  return typeof taken !== "string";
}

function holdOf(lock: SqliteDatabase, file: OwnerFile): OwnerHold {
  let isHeld = true;
  return {
    async release() {
      if (!isHeld) return;
      isHeld = false;
      removeLocked(lock, file);
      heldHere.delete(file.path);
    },
  };
}

function removeLocked(lock: SqliteDatabase, { path, folder }: OwnerFile): void {
  try {
    rmSync(path, { force: true });
    lock.close();
  } catch {
    // Where an open file cannot be removed, it is closed first.
    lock.close();
    attempt(() => rmSync(path, { force: true }));
  }
  // Only an empty folder goes; whoever is about to use it makes it again.
  attempt(() => rmdirSync(folder));
}

function ownersIn(folder: string, namespace: string): readonly string[] {
  const files = attempt(() => readdirSync(folder)) ?? [];
  const ending = `.${namespace}`;
  return files
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .filter((owner) => ownerName.test(owner));
}

function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Owners become file names, so nothing but plain letters, digits, "-" and "_" may be in them. */
function checked(owner: string): string {
  if (ownerName.test(owner)) return owner;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(owner.slice(0, 80))} cannot name an owner: use up to 64 letters, digits, "-" and "_".`,
  );
}

function cannotHold(path: string, cause?: unknown): StoreError {
  return new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `The lock "${path}" that shows this runner to be alive cannot be taken. Check that the folder can be written and ` +
      "that no other runner has the same id.",
    cause === undefined ? {} : { cause },
  );
}
