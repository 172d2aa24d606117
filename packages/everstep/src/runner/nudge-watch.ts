/** Listens for hints from other processes, and again when the connection broke. Losing every one of them costs only time. */
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Nudge, Store } from "../store/store.ts";
import { retryAfterMs } from "./store-patience.ts";

export interface NudgeWatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly onProblem: (problem: unknown) => void;
}

/** A connection may be dead without anybody having been told: after this long another is made in its place. */
const trustMs = 2 * 60 * 1000;

export class NudgeWatch {
  readonly #parts: NudgeWatchParts;
  readonly #listeners = new Set<(nudge: Nudge) => void>();
  #state: "idle" | "running" | "stopped" = "idle";
  #stopListening: (() => void) | null = null;
  #timer: Timer | null = null;
  #failures = 0;

  constructor(parts: NudgeWatchParts) {
    this.#parts = parts;
  }

  /** Nudges arrive at present. */
  get isListening(): boolean {
    return this.#stopListening !== null;
  }

  /** Begins to listen for the first who wants to hear; gives the way to stop hearing. */
  hear(listener: (nudge: Nudge) => void): () => void {
    this.#listeners.add(listener);
    if (this.#state === "idle" && this.#parts.store.subscribe) {
      this.#state = "running";
      void this.#subscribe(false);
    }
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#state = "stopped";
    this.#timer?.cancel();
    this.#stopListening?.();
    this.#stopListening = null;
  }

  /** `missed`: others may have told something while nobody listened. */
  async #subscribe(missed: boolean): Promise<void> {
    const { store, runtime } = this.#parts;
    try {
      const stopListening = await store.subscribe?.({
        onNudge: (nudge) => this.#tell(nudge),
        onLost: (reason) => this.#again(reason),
      });
      if (this.#state === "stopped") return stopListening?.();
      this.#stopListening = stopListening ?? null;
      this.#failures = 0;
      this.#timer = runtime.timer(() => this.#renew(), trustMs);
      if (missed) this.#tell({ due: true, changed: true, ended: true });
    } catch (reason) {
      // Told once: polling goes on, and the next tries may be many.
      if (this.#failures === 0 && this.#state === "running") this.#parts.onProblem(reason);
      this.#again(reason);
    }
  }

  #tell(nudge: Nudge): void {
    for (const listener of [...this.#listeners]) listener(nudge);
  }

  /** The old connection first, or a store that has one for all who listen would keep it. */
  #renew(): void {
    this.#stopListening?.();
    this.#stopListening = null;
    void this.#subscribe(true);
  }

  #again(reason: unknown): void {
    this.#stopListening = null;
    if (this.#state !== "running") return;
    this.#timer?.cancel();
    const delayMs = retryAfterMs(reason, this.#failures++, this.#parts.runtime);
    this.#timer = this.#parts.runtime.timer(() => void this.#subscribe(true), delayMs);
  }
}
