/** Listens for hints from other processes, and again when the connection broke. Losing every one of them costs only time. */
import { StoreError } from "../model/error.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Nudge, Store } from "../store/store.ts";
import { askAgainMs } from "./store-patience.ts";

export interface NudgeWatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly onProblem: (problem: unknown) => void;
}

/** A connection may be dead without anybody having been told: after this long another is made in its place. */
const trustMs = 2 * 60 * 1000;
/** Where it can be asked, it is, so often, and has this long to answer. */
const probeMs = 10_000;
const probePatienceMs = 5000;
/** Nobody wants to hear any more, but perhaps somebody will in a moment. */
const restMs = 10_000;

/** Nobody knows what happened. */
const anything: Nudge = { due: true, changed: true, ended: true };

/** One try to listen; what an older one says later counts no more. */
interface Ear {
  stop: (() => void) | null;
}

export class NudgeWatch {
  readonly #parts: NudgeWatchParts;
  readonly #listeners = new Set<(nudge: Nudge) => void>();
  #isStopped = false;
  #ear: Ear | null = null;
  #timer: Timer | null = null;
  #rest: Timer | null = null;
  #probe: Timer | null = null;
  #failures = 0;
  /** The host was told that nudges do not arrive. */
  #isTold = false;

  constructor(parts: NudgeWatchParts) {
    this.#parts = parts;
  }

  /** Nudges arrive at present. */
  get isListening(): boolean {
    return this.#ear !== null && this.#ear.stop !== null;
  }

  /** Begins to listen for the first who wants to hear; gives the way to stop hearing. */
  hear(listener: (nudge: Nudge) => void): () => void {
    this.#listeners.add(listener);
    this.#rest?.cancel();
    this.#rest = null;
    const isIdle = this.#ear === null && this.#timer === null;
    if (isIdle && !this.#isStopped && this.#parts.store.subscribe) void this.#subscribe();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#restSoon();
    };
  }

  stop(): void {
    this.#isStopped = true;
    this.#rest?.cancel();
    this.#hangUp();
  }

  #restSoon(): void {
    if (this.#isStopped || this.#rest) return;
    this.#rest = this.#parts.runtime.timer(() => {
      this.#rest = null;
      if (this.#listeners.size === 0) this.#hangUp();
    }, restMs);
  }

  #hangUp(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#probe?.cancel();
    this.#probe = null;
    const ear = this.#ear;
    this.#ear = null;
    ear?.stop?.();
  }

  async #subscribe(): Promise<void> {
    this.#hangUp();
    const ear: Ear = { stop: null };
    this.#ear = ear;
    const isCurrent = (): boolean => this.#ear === ear;
    try {
      const stop = await this.#parts.store.subscribe?.({
        onNudge: (nudge) => {
          if (isCurrent()) this.#tell(nudge);
        },
        onLost: (reason) => {
          if (isCurrent()) this.#again(reason);
        },
      });
      if (!isCurrent()) return stop?.();
      ear.stop = stop ?? null;
      this.#failures = 0;
      this.#isTold = false;
      this.#after(trustMs);
      this.#probeLater(ear);
      // Others may have told something before anybody listened: the first time, too, that takes a moment.
      this.#tell(anything);
    } catch (reason) {
      if (!isCurrent()) return;
      // Told once: polling goes on, and the next tries may be many.
      if (!this.#isTold) this.#parts.onProblem(reason);
      this.#isTold = true;
      this.#again(reason);
    }
  }

  #probeLater(ear: Ear): void {
    const { store, runtime } = this.#parts;
    if (store.probeNudges) this.#probe = runtime.timer(() => void this.#probeNow(ear), probeMs);
  }

  async #probeNow(ear: Ear): Promise<void> {
    const { store, runtime } = this.#parts;
    const asking = new AbortController();
    const lose = (reason: unknown): void => {
      if (this.#ear !== ear) return;
      ear.stop?.();
      this.#again(reason);
    };
    this.#probe = runtime.timer(() => {
      asking.abort(unanswered());
      lose(asking.signal.reason);
    }, probePatienceMs);
    const patience = this.#probe;
    try {
      await store.probeNudges?.(asking.signal);
    } catch (reason) {
      lose(reason);
    }
    patience.cancel();
    if (this.#ear === ear) this.#probeLater(ear);
  }

  #tell(nudge: Nudge): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(nudge);
      } catch (problem) {
        this.#parts.onProblem(problem);
      }
    }
  }

  #again(reason: unknown): void {
    const wasListening = this.isListening;
    this.#ear = null;
    this.#probe?.cancel();
    this.#probe = null;
    this.#after(askAgainMs(reason, this.#failures++, this.#parts.runtime));
    // Whoever relied on being told looks now, and more often from now on.
    if (wasListening) this.#tell(anything);
  }

  #after(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#parts.runtime.timer(() => void this.#subscribe(), delayMs);
  }
}

function unanswered(): StoreError {
  return new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    "The connection that brings nudges did not answer; another is made in its place.",
  );
}
