/**
 * Looks whether instances have ended in other processes, for all who wait in this one with one question: often at first and
 * then less so, and at a nudge where the store gives them, so that looking is only for those that got lost.
 */
import type { InstanceRef, InstanceStatus } from "../model/instance.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { NudgeWatch } from "../runner/nudge-watch.ts";
import { askAgainMs, isRetryable } from "../runner/store-patience.ts";
import type { Store } from "../store/store.ts";

const lookMs = { first: 100, factor: 1.5, max: 1000, maxWithNudges: 10_000, afterNudge: 5 } as const;
/** Instances asked for at once. */
const askMax = 500;

export interface EndWatcher {
  readonly ref: InstanceRef;
  /** It is being run in this process, which will tell: there is no need to look. */
  isHere?(): boolean;
  /** It was created this very instant: it cannot have ended before anybody listened. */
  readonly isNew?: boolean;
  seen(status: InstanceStatus | undefined): void;
  failed(reason: unknown): void;
}

export interface EndWatchParts {
  readonly store: Pick<Store, "getStatuses" | "changeMark">;
  readonly runtime: Runtime;
  readonly nudges: NudgeWatch;
}

export class EndWatch {
  readonly #parts: EndWatchParts;
  readonly #watchers = new Set<EndWatcher>();
  /** Those nobody has looked after yet. */
  #newcomers: EndWatcher[] = [];
  #timer: Timer | null = null;
  /** By the monotonic clock. */
  #timerAt = 0;
  #stopHearing: (() => void) | null = null;
  #delayMs: number = lookMs.first;
  #isLooking = false;
  /** Something ended since the last look began. */
  #isNudged = false;
  #failures = 0;
  /** The store's mark when everybody was last looked after; null where a store has none. */
  #mark: number | null = null;
  #markedAt = 0;

  constructor(parts: EndWatchParts) {
    this.#parts = parts;
  }

  /** Tells the status now and whenever it was looked at; gives the way to stop. */
  watch(watcher: EndWatcher): () => void {
    this.#watchers.add(watcher);
    // Where nudges arrive, one that ends later is heard of: newcomers are no reason to look after all the others.
    if (this.#watchers.size === 1 || !this.#parts.nudges.isListening) this.#delayMs = lookMs.first;
    this.#stopHearing ??= this.#parts.nudges.hear(({ ended }) => {
      if (ended) this.#nudge();
    });
    if (watcher.isNew || watcher.isHere?.()) {
      if (!this.#isLooking) this.#lookIn(this.#delayMs);
    } else {
      this.#newcomers.push(watcher);
      if (this.#newcomers.length === 1) this.#parts.runtime.drained(() => void this.#welcome());
    }
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#rest();
    };
  }

  #rest(): void {
    this.#isNudged = false;
    this.#timer?.cancel();
    this.#timer = null;
    this.#stopHearing?.();
    this.#stopHearing = null;
  }

  /** Many may have ended at once: one look a moment later serves for all. */
  #nudge(): void {
    if (this.#isNudged || this.#failures > 0) return;
    this.#isNudged = true;
    if (!this.#isLooking) this.#lookIn(lookMs.afterNudge);
  }

  /** Those who have just come are looked after at once, the others when their time has come. */
  async #welcome(): Promise<void> {
    const newcomers = this.#newcomers;
    this.#newcomers = [];
    await this.#ask(newcomers);
    if (!this.#isLooking && !this.#isNudged && this.#watchers.size > 0) this.#lookLater();
  }

  #lookLater(leastMs = 0): void {
    this.#lookIn(Math.max(this.#delayMs, leastMs));
    const maxMs = this.#parts.nudges.isListening ? lookMs.maxWithNudges : lookMs.max;
    this.#delayMs = Math.min(this.#delayMs * lookMs.factor, maxMs);
  }

  /** Never later than it was going to: however many come, those who wait already are looked after. */
  #lookIn(delayMs: number): void {
    const { runtime } = this.#parts;
    const at = runtime.monotonic() + delayMs;
    if (this.#timer !== null && this.#timerAt <= at) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = runtime.timer(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    this.#timer = null;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#isNudged = false;
    const { runtime } = this.#parts;
    const begun = runtime.monotonic();
    const failure = await this.#askAll();
    const tookMs = runtime.monotonic() - begun;
    this.#isLooking = false;
    if (this.#watchers.size === 0) return;
    if (failure !== null) return this.#lookIn(askAgainMs(failure, this.#failures++, runtime));
    this.#failures = 0;
    // Looking takes a tenth of the time, however much happens, and less where nothing is known to have.
    if (this.#isNudged) return this.#lookIn(Math.max(lookMs.afterNudge, Math.min(9 * tookMs, lookMs.max)));
    this.#lookLater(Math.min(20 * tookMs, lookMs.max));
  }

  /**
   * If no other process has written there is little to find: what ends in this one is told, unless it ends in another app
   * on the same store. So then it is enough to ask once in a while.
   */
  async #askAll(): Promise<unknown> {
    const { store, runtime } = this.#parts;
    const mark = (await store.changeMark?.().catch(() => null)) ?? null;
    const now = runtime.monotonic();
    if (mark !== null && mark === this.#mark && now - this.#markedAt < lookMs.max) return null;
    const failure = await this.#ask([...this.#watchers].filter((watcher) => !watcher.isHere?.()));
    if (failure === null) {
      this.#mark = mark;
      this.#markedAt = now;
    }
    return failure;
  }

  /** Gives the failure where the store is out of reach: whoever waits goes on waiting. */
  async #ask(watchers: readonly EndWatcher[]): Promise<unknown> {
    for (let at = 0; at < watchers.length; at += askMax) {
      const part = watchers.slice(at, at + askMax).filter((watcher) => this.#watchers.has(watcher));
      if (part.length === 0) continue;
      try {
        const statuses = await this.#parts.store.getStatuses(part.map(({ ref }) => ref));
        for (const [n, watcher] of part.entries()) watcher.seen(statuses[n]);
      } catch (reason) {
        if (isRetryable(reason)) return reason;
        for (const watcher of part) watcher.failed(reason);
      }
    }
    return null;
  }
}
