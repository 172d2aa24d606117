/**
 * Notices that files became others than they were. Folders are watched, since editors replace files rather than write
 * them, and contents are compared, since a file is often touched without being changed.
 */
import { createHash } from "node:crypto";
import { type FSWatcher, readFileSync, statSync, unwatchFile, watch, watchFile } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../../../index.ts";

/** Editors and `git checkout` write several files in a row: one change, not five. */
const settleMs = 60;
const pollMs = 500;

export class FileWatch {
  readonly #runtime: Runtime;
  readonly #onChange: (files: readonly string[]) => void;
  readonly #digests = new Map<string, string | null>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #polled = new Set<string>();
  #timer: { cancel(): void } | null = null;

  constructor(runtime: Runtime, onChange: (files: readonly string[]) => void) {
    this.#runtime = runtime;
    this.#onChange = onChange;
  }

  /** Watches these too. What was written after `since` has not been read by whoever began to read then. */
  add(files: readonly string[], since: number): void {
    for (const file of files) {
      if (!this.#digests.has(file)) this.#digests.set(file, writtenAfter(file, since) ? "" : digestOf(file));
      this.#watchFolder(dirname(file), file);
    }
    this.#lookSoon();
  }

  stop(): void {
    this.#timer?.cancel();
    for (const watcher of this.#folders.values()) watcher.close();
    for (const file of this.#polled) unwatchFile(file);
    this.#folders.clear();
    this.#polled.clear();
  }

  #watchFolder(folder: string, file: string): void {
    if (this.#folders.has(folder)) return;
    try {
      const watcher = watch(folder, () => this.#lookSoon());
      watcher.on("error", () => this.#poll(file));
      this.#folders.set(folder, watcher);
    } catch {
      this.#poll(file);
    }
  }

  /** Where the system cannot tell: too many watches, a network drive, a folder that is not there yet. */
  #poll(file: string): void {
    if (this.#polled.has(file)) return;
    this.#polled.add(file);
    watchFile(file, { interval: pollMs }, () => this.#lookSoon());
  }

  #lookSoon(): void {
    this.#timer?.cancel();
    this.#timer = this.#runtime.timer(() => this.#look(), settleMs);
  }

  #look(): void {
    this.#timer = null;
    const changed: string[] = [];
    for (const [file, before] of this.#digests) {
      const digest = digestOf(file);
      if (digest === before) continue;
      this.#digests.set(file, digest);
      changed.push(file);
    }
    if (changed.length > 0) this.#onChange(changed);
  }
}

/** null where there is no such file. */
function digestOf(file: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return null;
  }
}

function writtenAfter(file: string, since: number): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > since;
}
