import { closeSync, openSync } from "node:fs";

/**
 * A new file is for its owner alone: params and results of everybody's work are in it. What SQLite lays beside it (-wal,
 * -shm) has the same mode. A file that is there keeps its own.
 */
export function makeOwnFile(file: string): void {
  try {
    closeSync(openSync(file, "ax", 0o600));
  } catch {
    // It is there, or cannot be: whoever opens it says so.
  }
}
