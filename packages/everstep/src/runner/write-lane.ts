import { requestBytes } from "../model/bytes.ts";
import { EverstepError, StoreError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { runnerDefaults, storeRetry } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import type { Store, StoreOutcome, StoreRequest } from "../store/store.ts";
import {
  appStopped,
  askAgainMs,
  isOutage,
  isRetryable,
  type Patience,
  retryAfterMs,
} from "./store-patience.ts";

export type WriteSubject = InstanceRef & { readonly runNumber?: number };

/** A request on its way, and whom to tell. */
export abstract class Entry {
  readonly request: StoreRequest;
  /** Entries of one bundle are written together. */
  readonly bundle: object | null;
  /** Whose run it is, for those who hear of outcomes. */
  readonly of: WriteSubject | undefined;
  /** The monotonic time before it was sent. */
  readonly since: number;
  /** A try failed that may have taken effect all the same: a refusal later on may be this request's own doing. */
  uncertain = false;
  /** How many requests shared its last try. */
  together = 0;
  /** How often it was tried again on its own. */
  repetitions = 0;
  /** Since when it has waited behind others for a store that is out of reach, by the monotonic clock. */
  heldUpSince: number | null = null;

  constructor(
    request: StoreRequest,
    of: WriteSubject | undefined,
    since: number,
    bundle: object | null = null,
  ) {
    this.request = request;
    this.of = of;
    this.since = since;
    this.bundle = bundle;
  }

  /** Whether it is still worth trying again, as a commit is while its lease is held; null: for as long as usual. */
  abstract isWanted(): boolean | null;
  abstract resolve(outcome: StoreOutcome): void;
  abstract reject(error: unknown): void;
}

/** How long all tries of one request take together: 1 + 2 + 4 + ... seconds. */
const triesMs = Array.from({ length: storeRetry.retries }).reduce<number>(
  (sum, _, n) => sum + storeRetry.delayMs * storeRetry.factor ** n,
  0,
);

export interface LaneParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly patience: Patience;
  /** The store has answered again. */
  readonly onBack: () => void;
  /** Hears of every entry that was told its outcome, or that there is none and why, and when by the monotonic clock. */
  readonly onSettled: (entry: Entry, outcome: StoreOutcome | null, error: unknown, at: number) => void;
}

/** Writes one group after the other; whatever comes while one is under way goes into the next. */
export class WriteLane {
  readonly #parts: LaneParts;
  readonly #groupMax: number;
  #queue: Entry[] = [];
  #busy = false;
  #isWriting = false;
  /** Failures in a row of a store that is out of reach. */
  #outages = 0;
  /** How many are written at once: after an outage one, then ever more. */
  #groupSize: number;

  constructor(parts: LaneParts, groupMax: number) {
    this.#parts = parts;
    this.#groupMax = groupMax;
    this.#groupSize = groupMax;
  }

  /** How much is before a request that comes now: a write under way, and what waits already; 0: it goes with the next. */
  get backlog(): number {
    if (this.#isWriting) return this.#queue.length + 1;
    return this.#queue.length < this.#groupSize ? 0 : this.#queue.length;
  }

  add(entry: Entry): void {
    this.#queue.push(entry);
    if (this.#busy) return;
    this.#busy = true;
    // Not in the same slot: what else becomes ready in this turn of the event loop shares the write.
    this.#parts.runtime.drained(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#isWriting = true;
      const outage = await this.#write(this.#takeGroup());
      if (outage === null) this.#wentThrough();
      else await this.#sitOut(outage);
      this.#isWriting = false;
      await this.#nextSlot();
    }
    this.#busy = false;
  }

  #wentThrough(): void {
    if (this.#outages > 0) this.#parts.onBack();
    this.#outages = 0;
    this.#groupSize = Math.min(this.#groupSize * 2, this.#groupMax);
  }

  /** Whoever comes meanwhile waits too: a server that is down is asked once in a while, not once per request. */
  async #sitOut(outage: unknown): Promise<void> {
    const { patience, runtime } = this.#parts;
    // A small question finds out whether the store is back, and in the end which request it always fails for.
    this.#groupSize = 1;
    try {
      await patience.pause(askAgainMs(outage, this.#outages++, runtime));
    } catch (stopped) {
      for (const entry of this.#queue.splice(0)) this.#reject(entry, stopped);
    }
  }

  #takeGroup(): Entry[] {
    const queue = this.#queue;
    const size = aroundBundles(queue, withinBytes(queue, Math.min(queue.length, this.#groupSize)));
    const group = queue.slice(0, Math.max(size, 1));
    this.#queue = queue.slice(group.length);
    return group;
  }

  /**
   * A group that fails as a whole is repeated once, then tried entry by entry: one bad request harms only itself. Gives
   * the failure where the store is out of reach; they wait in the queue again then.
   */
  async #write(group: readonly Entry[]): Promise<unknown> {
    const failure = await this.#tryOnce(group);
    if (failure === null) return null;
    if (isOutage(failure)) return this.#putBack(group, failure);
    const parts = byBundle(group);
    if (parts.length === 1) {
      this.#tryLater(group, failure);
      return null;
    }
    if (isRetryable(failure)) {
      await this.#pauseBriefly(failure);
      if ((await this.#tryOnce(group)) === null) return null;
    }
    for (const [at, part] of parts.entries()) {
      const own = await this.#tryOnce(part);
      if (isOutage(own)) return this.#putBack(parts.slice(at).flat(), own);
      if (own !== null) this.#tryLater(part, own);
    }
    return null;
  }

  async #pauseBriefly(failure: unknown): Promise<void> {
    const { patience, runtime } = this.#parts;
    await patience.pause(retryAfterMs(failure, 0, runtime)).catch(() => {});
  }

  /** One that failed alone lets the others go first: the reason may be in it. */
  #putBack(group: readonly Entry[], failure: unknown): unknown {
    const tried = group.filter((entry) => this.#isWorthRepeating(entry, failure));
    for (const entry of tried) entry.repetitions++;
    const others = this.#queue.filter((entry) => this.#isWorthWaiting(entry, failure));
    this.#queue = byBundle(group).length === 1 ? [...others, ...tried] : [...tried, ...others];
    return failure;
  }

  /** Those whose turn to be tried has not come wait no longer than if they had been. */
  #isWorthWaiting(entry: Entry, failure: unknown): boolean {
    entry.heldUpSince ??= this.#parts.runtime.monotonic();
    if (entry.isWanted() ?? !this.#hasWaitedLong(entry)) return true;
    this.#reject(entry, failure);
    return false;
  }

  #hasWaitedLong({ heldUpSince }: Entry): boolean {
    return heldUpSince !== null && this.#parts.runtime.monotonic() - heldUpSince > triesMs;
  }

  async #tryOnce(group: readonly Entry[]): Promise<unknown> {
    let outcomes: readonly StoreOutcome[];
    for (const entry of group) entry.together = group.length;
    try {
      const { store, runtime } = this.#parts;
      outcomes = await store.write(
        group.map((entry) => entry.request),
        runtime.now(),
      );
    } catch (error) {
      if (error instanceof StoreError && error.failure === "ambiguous") {
        for (const entry of group) entry.uncertain = true;
      }
      return error ?? new Error("The store failed without a reason.");
    }
    // Once for all: to ask for the time costs as much as to tell one of them.
    const now = this.#parts.runtime.monotonic();
    for (let at = 0; at < group.length; at++) this.#settle(group[at] as Entry, outcomes[at], now);
    return null;
  }

  #settle(entry: Entry, outcome: StoreOutcome | undefined, now: number): void {
    if (outcome === undefined) {
      this.#reject(entry, new EverstepError("STORE_FAILED", "The store gave no outcome for a request."));
      return;
    }
    entry.resolve(outcome);
    this.#parts.onSettled(entry, outcome, null, now);
  }

  #reject(entry: Entry, reason: unknown): void {
    entry.reject(reason);
    this.#parts.onSettled(entry, null, reason, this.#parts.runtime.monotonic());
  }

  /**
   * Repeats are harmless because every request carries its own id, so a passing failure is simply tried again: after a
   * while, and behind what else there is to write, because the reason may be this request alone.
   */
  #tryLater(part: readonly Entry[], failure: unknown): void {
    const kept = part.filter((entry) => this.#isWorthRepeating(entry, failure));
    const [first] = kept;
    if (first === undefined) return;
    const { patience, runtime } = this.#parts;
    const delayMs = retryAfterMs(failure, first.repetitions, runtime);
    for (const entry of kept) entry.repetitions++;
    patience.pause(delayMs).then(
      () => {
        for (const entry of kept) this.add(entry);
      },
      () => {
        for (const entry of kept) this.#reject(entry, appStopped());
      },
    );
  }

  /** What is not is told its failure. */
  #isWorthRepeating(entry: Entry, failure: unknown): boolean {
    const triesAreOver = entry.repetitions >= storeRetry.retries || this.#hasWaitedLong(entry);
    const isWanted = entry.isWanted() ?? !triesAreOver;
    if (isRetryable(failure) && isWanted) return true;
    this.#reject(entry, failure);
    return false;
  }

  #nextSlot(): Promise<void> {
    return new Promise((resolve) => this.#parts.runtime.drained(resolve));
  }
}

/** What must be written together, in order. */
function byBundle(group: readonly Entry[]): readonly Entry[][] {
  const parts: Entry[][] = [];
  for (const entry of group) {
    const last = parts.at(-1);
    if (entry.bundle !== null && last?.[0]?.bundle === entry.bundle) last.push(entry);
    else parts.push([entry]);
  }
  return parts;
}

/** Where to cut so that what is written at once is not too much; one entry always is. */
function withinBytes(queue: readonly Entry[], size: number): number {
  let bytes = 0;
  for (let at = 0; at < size; at++) {
    bytes += requestBytes((queue[at] as Entry).request);
    if (bytes > runnerDefaults.groupBytesMax) return Math.max(1, at);
  }
  return size;
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
