/** `.everstep/dev.json`: where the `everstep dev` of this folder, or of one above, listens. */
import { join } from "node:path";
import { parseJson } from "../../model/json.ts";
import { findUpwards, readOwnFile } from "./files.ts";
import type { Places } from "./places.ts";

export interface DevServer {
  readonly path: string;
  readonly url: string;
  readonly pid: number;
  /** What it asks for, where it has made one. */
  readonly token: string | undefined;
  /** A process that was killed leaves its file behind. */
  readonly isAlive: boolean;
}

export function findDevServer(places: Places): DevServer | undefined {
  const path = findUpwards(places.cwd, join(".everstep", "dev.json"));
  const file = path === undefined ? undefined : readOwnFile(path, places);
  if (path === undefined || file === undefined) return undefined;
  const { url, pid, token } = parsed(file.text);
  if (typeof url !== "string" || typeof pid !== "number") return undefined;
  return { path, url, pid, token: typeof token === "string" ? token : undefined, isAlive: isAlive(pid) };
}

function parsed(text: string): { readonly url?: unknown; readonly pid?: unknown; readonly token?: unknown } {
  try {
    return Object(parseJson(text));
  } catch {
    return {};
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
