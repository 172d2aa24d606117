/**
 * Proof of death on one machine, for stores on a server: a runner leaves a small file that says in which process it is.
 * Whoever finds that this very process is gone knows that the owner is dead. Of other machines nothing is known, nor
 * where there is no folder to write to: there the leases run out.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { parseJson } from "../../model/json.ts";
import { beatDefaults } from "../../model/limits.ts";
import type { OwnerHold, Ownership, RunnerRecord } from "../../store/store.ts";
import { isGone, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

/** How often the store is asked whether it knows a dead owner, whose first beat may still be on its way. */
const asksMax = 3;
const fileName = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.(\d+)-(\w*)$/;

export interface OwnerFilesParts {
  /** The folder is shared by all stores on the machine: this tells which of its owners are of this one. */
  readonly listRunners: (limit: number) => Promise<readonly Pick<RunnerRecord, "owner">[]>;
  readonly folder?: string;
}

export function ownerFiles({ listRunners, folder = ownFolder() }: OwnerFilesParts): Ownership {
  /** How often the store did not know a dead owner. */
  const strangers = new Map<string, number>();

  return {
    async hold(owner) {
      const identity = ownIdentity();
      const path = identity === null ? undefined : attempt(() => write(folder, owner, identity));
      if (path === undefined) return nothingHeld;
      forgetOld(folder, path);
      return holdOf(path);
    },

    async findDead() {
      const files = filesIn(folder).filter(({ owner }) => (strangers.get(owner) ?? 0) < asksMax);
      const dead = deadOf(files);
      if (dead.length === 0) return [];
      const known = new Set((await listRunners(beatDefaults.runnersMax)).map(({ owner }) => owner));
      for (const owner of dead) if (!known.has(owner)) strangers.set(owner, (strangers.get(owner) ?? 0) + 1);
      return dead.filter((owner) => known.has(owner));
    },

    async bury(owner) {
      for (const file of filesIn(folder)) {
        if (file.owner === owner && isDeadFile(file.path)) remove(file.path);
      }
    },
  };
}

/** Owners all of whose processes are gone. */
function deadOf(files: readonly OwnerFile[]): readonly string[] {
  const isAlive = new Map<string, boolean>();
  for (const { owner, path } of files) {
    if (!isDeadFile(path)) isAlive.set(owner, true);
    else if (!isAlive.has(owner)) isAlive.set(owner, false);
  }
  return [...isAlive].flatMap(([owner, alive]) => (alive ? [] : [owner]));
}

/** Files of processes that are gone and of whose owners no store knows any more, by the time of a file just written. */
function forgetOld(folder: string, newest: string): void {
  const timeOf = (path: string): number => attempt(() => statSync(path).mtimeMs) ?? Number.POSITIVE_INFINITY;
  const oldest = timeOf(newest) - beatDefaults.memoryMs;
  for (const { path } of filesIn(folder)) if (timeOf(path) < oldest && isDeadFile(path)) remove(path);
}

/**
 * Files whose process was found gone, by all stores of this process: who is dead stays dead, and on a machine where much
 * was killed there are hundreds of such files to look at every second. The name tells one process from all others only if
 * it says when it began.
 */
const gone = new Set<string>();
const goneMax = 10_000;

function isDeadFile(path: string): boolean {
  if (gone.has(path)) return true;
  const identity = attempt(() => parseJson(readFileSync(path, "utf8")));
  if (!isIdentity(identity) || !isGone(identity)) return false;
  if (gone.size >= goneMax) gone.clear();
  if (identity.began !== null) gone.add(path);
  return true;
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== "object" || value === null) return false;
  const { pid, boot, space, began } = value as Partial<Record<keyof ProcessIdentity, unknown>>;
  const isText = (given: unknown): boolean => typeof given === "string";
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    isText(boot) &&
    isText(space) &&
    (began === null || isText(began))
  );
}

interface OwnerFile {
  readonly owner: string;
  readonly path: string;
}

function filesIn(folder: string): readonly OwnerFile[] {
  const names = attempt(() => (isOurs(folder) ? readdirSync(folder) : [])) ?? [];
  return names.flatMap((name) => {
    const owner = fileName.exec(name)?.[1];
    return owner === undefined ? [] : [{ owner, path: `${folder}${sep}${name}` }];
  });
}

/** Whole or not at all: it is moved to its place. */
function write(folder: string, owner: string, identity: ProcessIdentity): string | undefined {
  const name = `${owner}.${identity.pid}-${identity.began ?? ""}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!fileName.test(name) || !isOurs(folder)) return undefined;
  const path = join(folder, name);
  const draft = join(folder, `.${name}.draft`);
  writeFileSync(draft, JSON.stringify(identity), { mode: 0o600 });
  renameSync(draft, path);
  return path;
}

/** Nobody else may put files there: with one of them, runs of living processes could be taken away. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return false;
  return process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0);
}

function ownFolder(): string {
  return join(tmpdir(), `everstep-owners-${process.getuid?.() ?? "own"}`);
}

function holdOf(path: string): OwnerHold {
  return {
    async release() {
      remove(path);
    },
  };
}

const nothingHeld: OwnerHold = { async release() {} };

function remove(path: string): void {
  attempt(() => rmSync(path, { force: true }));
}

function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
