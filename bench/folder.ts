import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** Beside the sources, because a temporary folder may be no disk at all. */
export const parentFolder = join(import.meta.dirname, "..", ".everstep");

/** Removed again however the run ends. */
export function makeFolder(dir: string | null): string {
  const parent = dir === null ? parentFolder : resolve(dir);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "bench-"));
  process.on("exit", () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    if (dir === null) removeIfEmpty(parent);
  });
  return folder;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else keeps something there.
  }
}
