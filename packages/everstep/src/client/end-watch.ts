/**
 * Looks whether instances have ended in other processes, for all who wait in this one with one question: often at first and
 * then less so, and at a nudge where the store gives them, so that looking is only for those that got lost.
 */
import type { InstanceRef, InstanceStatus } from "../model/instance.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { NudgeWatch } from "../runner/nudge-watch.ts";
import type { StoreReads } from "./patient-reads.ts";

const lookMs = { first: 100, factor: 1.5, max: 1000, maxWithNudges: 10_000, afterNudge: 5 } as const;
/** Instances asked for at once. */
const askMax = 500;

export interface EndWatcher {
  readonly ref: InstanceRef;
  seen(status: InstanceStatus | undefined): void;
  failed(reason: unknown): void;
}

export interface EndWatchParts {
  readonly reads: StoreReads;
  readonly runtime: Runtime;
  readonly nudges: NudgeWatch;
}

export class EndWatch {
  readonly #parts: EndWatchParts;
  readonly #watchers = new Set<EndWatcher>();
  #timer: Timer | null = null;
  #stopHearing: (() => void) | null = null;
  #delayMs: number = lookMs.first;
  #isLooking = false;
  /** Something happened since the last look began. */
  #isNudged = false;

  constructor(parts: EndWatchParts) {
    this.#parts = parts;
  }

  /** Tells the status now and whenever it was looked at; gives the way to stop. */
  watch(watcher: EndWatcher): () => void {
    this.#watchers.add(watcher);
    this.#delayMs = lookMs.first;
    this.#stopHearing ??= this.#parts.nudges.hear(({ ended }) => {
      if (ended) this.#soon(lookMs.afterNudge);
    });
    this.#soon(0);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#rest();
    };
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#stopHearing?.();
    this.#stopHearing = null;
  }

  #soon(delayMs: number): void {
    if (this.#isNudged) return;
    this.#isNudged = true;
    if (!this.#isLooking) this.#lookIn(delayMs);
  }

  #lookIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (delayMs === 0) this.#parts.runtime.drained(() => void this.#look());
    else this.#timer = this.#parts.runtime.timer(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#isNudged = false;
    const watchers = [...this.#watchers];
    for (let at = 0; at < watchers.length; at += askMax) await this.#ask(watchers.slice(at, at + askMax));
    this.#isLooking = false;
    if (this.#watchers.size === 0) return;
    if (this.#isNudged) return this.#lookIn(lookMs.afterNudge);
    this.#lookIn(this.#delayMs);
    const maxMs = this.#parts.nudges.isListening ? lookMs.maxWithNudges : lookMs.max;
    this.#delayMs = Math.min(this.#delayMs * lookMs.factor, maxMs);
  }

  async #ask(watchers: readonly EndWatcher[]): Promise<void> {
    try {
      const statuses = await this.#parts.reads.getStatuses(watchers.map(({ ref }) => ref));
      for (const [at, watcher] of watchers.entries()) watcher.seen(statuses[at]);
    } catch (reason) {
      for (const watcher of watchers) watcher.failed(reason);
    }
  }
}
