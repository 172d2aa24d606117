import type { RunId } from "../model/instance.ts";
import type { Runtime } from "../model/runtime.ts";
import { historyBytes } from "../store/history-bytes.ts";
import { readInPortions } from "../store/read-in-portions.ts";
import type { RunHistory, RunRead, Store } from "../store/store.ts";

export interface HistoryReadsParts {
  readonly store: Pick<Store, "readRuns">;
  readonly runtime: Runtime;
  readonly onProblem: (problem: unknown) => void;
}

export interface Histories {
  readonly read: readonly RunHistory[];
  /** Runs that alone could not be read either, and when they are tried again. */
  readonly failed: ReadonlyMap<RunId, number>;
  /** Why nothing could be read at all. */
  readonly problem?: unknown;
}

/** So many in a row, and it is the store that fails, not single runs. */
const failuresInARow = 2;
const delays = { firstMs: 1000, maxMs: 60_000 } as const;
/** How many failing runs are remembered. */
const rememberedMax = 1000;

/**
 * Histories of claimed runs, all together. Where that fails again they are read one by one: a single one that is damaged, or
 * takes longer to read than the store allows, must not keep all others from their turns. It is tried again later and later.
 */
export class HistoryReads {
  readonly #parts: HistoryReadsParts;
  readonly #failures = new Map<RunId, number>();
  /** In a row. */
  #failedBatches = 0;

  constructor(parts: HistoryReadsParts) {
    this.#parts = parts;
  }

  async read(reads: readonly RunRead[], room: number): Promise<Histories> {
    if (reads.length === 0) return { read: [], failed: new Map() };
    try {
      const read = await readInPortions(this.#parts.store, reads, room);
      this.#failedBatches = 0;
      if (this.#failures.size > 0) for (const { runId } of reads) this.#failures.delete(runId);
      return { read, failed: new Map() };
    } catch (problem) {
      // Once is the store's business: in a moment it may answer again.
      this.#failedBatches += 1;
      if (this.#failedBatches === 1) return { read: [], failed: new Map(), problem };
      return this.#oneByOne(reads, room, problem);
    }
  }

  async #oneByOne(reads: readonly RunRead[], room: number, first: unknown): Promise<Histories> {
    const read: RunHistory[] = [];
    const failed = new Map<RunId, number>();
    const problems: unknown[] = [];
    let free = room;
    let inARow = 0;
    // What is alone has been tried already.
    if (reads.length === 1)
      return { read, failed: this.#putOff(reads[0] as RunRead, failed), problem: first };
    for (const each of reads) {
      if (inARow === failuresInARow || (free <= 0 && read.length > 0)) break;
      try {
        const found = await readInPortions(this.#parts.store, [each], free);
        for (const history of found) free -= historyBytes(history);
        read.push(...found);
        this.#failures.delete(each.runId);
        inARow = 0;
      } catch (problem) {
        this.#putOff(each, failed);
        inARow += 1;
        problems.push(problem);
      }
    }
    if (read.length === 0) return { read, failed, problem: first };
    for (const problem of problems) this.#parts.onProblem(problem);
    return { read, failed };
  }

  #putOff({ runId }: RunRead, failed: Map<RunId, number>): Map<RunId, number> {
    const failures = (this.#failures.get(runId) ?? 0) + 1;
    this.#failures.delete(runId);
    this.#failures.set(runId, failures);
    const oldest = this.#failures.keys().next().value;
    if (this.#failures.size > rememberedMax && oldest !== undefined) this.#failures.delete(oldest);
    const delayMs = Math.min(delays.maxMs, delays.firstMs * 2 ** (failures - 1));
    return failed.set(runId, this.#parts.runtime.now() + delayMs);
  }
}
