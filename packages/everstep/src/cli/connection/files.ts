/** Files whose words are followed: only those that the user, or the administrator, wrote. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandFailed } from "../problems.ts";
import type { Places } from "./places.ts";

/** The file of that name in the folder, or in the nearest one above. */
export function findUpwards(folder: string, name: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const path = join(current, name);
    if (existsSync(path)) return path;
    if (dirname(current) === current) return undefined;
  }
}

export interface OwnFile {
  readonly text: string;
  readonly isReadableByOthers: boolean;
}

// A file that somebody else put into a folder above (/tmp) must not decide where one's token is sent.
export function readOwnFile(path: string, places: Places): OwnFile | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const { uid, mode } = statSync(path);
    if (!isTrusted(uid, process.getuid?.())) {
      places.warn(`${path} belongs to another user and was not read.`);
      return undefined;
    }
    return { text: readFileSync(path, "utf8"), isReadableByOthers: hasModes && (mode & 0o044) !== 0 };
  } catch (error) {
    throw new CommandFailed(`${path} cannot be read: ${(error as Error).message.replace(/\.$/, "")}.`);
  }
}

const hasModes = process.platform !== "win32";

/** Also as the administrator: most of all their token is not for whoever left a file somewhere. */
export function isTrusted(owner: number, own: number | undefined): boolean {
  return own === undefined || owner === own || owner === 0;
}
