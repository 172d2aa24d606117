import { EverstepError, StoreError } from "../model/error.ts";
import { storeRetry } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import type { Store, StoreOutcome, StoreRequest } from "../store/store.ts";
import { isOutage, isRetryable, pauseAfter } from "./store-patience.ts";

/** A request on its way, and whom to tell. */
export interface Entry {
  readonly request: StoreRequest;
  /** Whether it is still worth trying again; a commit is while its lease is held. */
  readonly wanted: (() => boolean) | null;
  /** Entries of one bundle are written together. */
  readonly bundle: object | null;
  readonly resolve: (outcome: StoreOutcome) => void;
  readonly reject: (error: unknown) => void;
  readonly onUncertain: (() => void) | null;
  /** How often it was tried again on its own. */
  repetitions: number;
}

/** Writes one group after the other; whatever comes while one is under way goes into the next. */
export class WriteLane {
  readonly #store: Store;
  readonly #runtime: Runtime;
  readonly #groupMax: number;
  #queue: Entry[] = [];
  #busy = false;
  /** Failures in a row of a store that is out of reach. */
  #outages = 0;

  constructor(store: Store, runtime: Runtime, groupMax: number) {
    this.#store = store;
    this.#runtime = runtime;
    this.#groupMax = groupMax;
  }

  add(entry: Entry): void {
    this.#queue.push(entry);
    if (this.#busy) return;
    this.#busy = true;
    // Not in the same slot: what else becomes ready in this turn of the event loop shares the write.
    this.#runtime.drained(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const outage = await this.#write(this.#takeGroup());
      // Whoever comes meanwhile waits too: a server that is down is asked once in a while, not once per request.
      if (outage === null) this.#outages = 0;
      else await pauseAfter(outage, this.#outages++, this.#runtime);
      await this.#nextSlot();
    }
    this.#busy = false;
  }

  #takeGroup(): Entry[] {
    const queue = this.#queue;
    const size = aroundBundles(queue, Math.min(queue.length, this.#groupMax));
    const group = queue.slice(0, Math.max(size, 1));
    this.#queue = queue.slice(group.length);
    return group;
  }

  /**
   * A group that fails as a whole is repeated once, then tried entry by entry: one bad request harms only itself. Gives
   * the failure where the store is out of reach for all of them; they are in front of the queue again then.
   */
  async #write(group: readonly Entry[]): Promise<unknown> {
    const failure = await this.#tryOnce(group);
    if (failure === null) return null;
    if (isOutage(failure)) return this.#putBack(group, failure);
    const [only, ...others] = group;
    if (only && others.length === 0) {
      this.#tryLater(only, failure);
      return null;
    }
    if (isRetryable(failure)) {
      await pauseAfter(failure, 0, this.#runtime);
      if ((await this.#tryOnce(group)) === null) return null;
    }
    for (const [at, entry] of group.entries()) {
      const own = await this.#tryOnce([entry]);
      if (isOutage(own)) return this.#putBack(group.slice(at), own);
      if (own !== null) this.#tryLater(entry, own);
    }
    return null;
  }

  #putBack(group: readonly Entry[], failure: unknown): unknown {
    const kept = group.filter((entry) => this.#isWorthRepeating(entry, failure));
    for (const entry of kept) entry.repetitions++;
    this.#queue = [...kept, ...this.#queue];
    return failure;
  }

  async #tryOnce(group: readonly Entry[]): Promise<unknown> {
    let outcomes: readonly StoreOutcome[];
    try {
      outcomes = await this.#store.write(
        group.map((entry) => entry.request),
        this.#runtime.now(),
      );
    } catch (error) {
      if (error instanceof StoreError && error.failure === "ambiguous") {
        for (const entry of group) entry.onUncertain?.();
      }
      return error ?? new Error("The store failed without a reason.");
    }
    for (const [at, entry] of group.entries()) {
      const outcome = outcomes[at];
      if (outcome) entry.resolve(outcome);
      else entry.reject(new EverstepError("STORE_FAILED", "The store gave no outcome for a request."));
    }
    return null;
  }

  /**
   * Repeats are harmless because every request carries its own id, so a passing failure is simply tried again: after a
   * while, and behind what else there is to write, because the reason may be this request alone.
   */
  #tryLater(entry: Entry, failure: unknown): void {
    if (!this.#isWorthRepeating(entry, failure)) return;
    void pauseAfter(failure, entry.repetitions++, this.#runtime).then(() => this.add(entry));
  }

  /** What is not is told its failure. */
  #isWorthRepeating(entry: Entry, failure: unknown): boolean {
    const enough = entry.wanted ? !entry.wanted() : entry.repetitions >= storeRetry.retries;
    if (isRetryable(failure) && !enough) return true;
    entry.reject(failure);
    return false;
  }

  #nextSlot(): Promise<void> {
    return new Promise((resolve) => this.#runtime.drained(resolve));
  }
}

/** Where to cut so that no bundle is cut: before the one at the cut, or behind it if it is the first. */
function aroundBundles(queue: readonly Entry[], size: number): number {
  const bundle = queue[size]?.bundle ?? null;
  if (bundle === null) return size;
  let start = size;
  while (start > 0 && queue[start - 1]?.bundle === bundle) start--;
  if (start > 0) return start;
  let end = size;
  while (queue[end]?.bundle === bundle) end++;
  return end;
}
