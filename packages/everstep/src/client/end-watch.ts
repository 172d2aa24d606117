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
  seen(status: InstanceStatus | undefined): void;
  failed(reason: unknown): void;
}

export interface EndWatchParts {
  readonly store: Pick<Store, "getStatuses">;
  readonly runtime: Runtime;
  readonly nudges: NudgeWatch;
}

export class EndWatch {
  readonly #parts: EndWatchParts;
  readonly #watchers = new Set<EndWatcher>();
  /** Those nobody has looked after yet. */
  #newcomers: EndWatcher[] = [];
  #timer: Timer | null = null;
  #stopHearing: (() => void) | null = null;
  #delayMs: number = lookMs.first;
  #isLooking = false;
  /** Something ended since the last look began. */
  #isNudged = false;
  #failures = 0;

  constructor(parts: EndWatchParts) {
    this.#parts = parts;
  }

  /** Tells the status now and whenever it was looked at; gives the way to stop. */
  watch(watcher: EndWatcher): () => void {
    this.#watchers.add(watcher);
    this.#delayMs = lookMs.first;
    this.#stopHearing ??= this.#parts.nudges.hear(({ ended }) => {
      if (ended) this.#nudge();
    });
    this.#newcomers.push(watcher);
    if (this.#newcomers.length === 1) this.#parts.runtime.drained(() => void this.#welcome());
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

  #lookLater(): void {
    this.#lookIn(this.#delayMs);
    const maxMs = this.#parts.nudges.isListening ? lookMs.maxWithNudges : lookMs.max;
    this.#delayMs = Math.min(this.#delayMs * lookMs.factor, maxMs);
  }

  #lookIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#parts.runtime.timer(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#isNudged = false;
    const { runtime } = this.#parts;
    const begun = runtime.monotonic();
    const failure = await this.#ask([...this.#watchers]);
    const tookMs = runtime.monotonic() - begun;
    this.#isLooking = false;
    if (this.#watchers.size === 0) return;
    if (failure !== null) return this.#lookIn(askAgainMs(failure, this.#failures++, runtime));
    this.#failures = 0;
    // Looking takes half of the time at most, however much happens.
    if (this.#isNudged) return this.#lookIn(Math.max(lookMs.afterNudge, tookMs));
    this.#lookLater();
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
