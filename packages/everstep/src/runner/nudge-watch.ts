/** Listens for hints from other processes, and again when the connection broke. Losing every one of them costs only time. */
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Nudge, Store } from "../store/store.ts";
import { retryAfterMs } from "./store-patience.ts";

export interface NudgeWatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly onProblem: (problem: unknown) => void;
}

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
      void this.#subscribe();
    }
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#state = "stopped";
    this.#timer?.cancel();
    this.#stopListening?.();
    this.#stopListening = null;
  }

  async #subscribe(): Promise<void> {
    try {
      const stopListening = await this.#parts.store.subscribe?.({
        onNudge: (nudge) => this.#tell(nudge),
        onLost: (reason) => this.#again(reason),
      });
      if (this.#state === "stopped") return stopListening?.();
      this.#stopListening = stopListening ?? null;
      // What happened while nobody listened.
      if (this.#failures > 0) this.#tell({ due: true, changed: true, ended: true });
      this.#failures = 0;
    } catch (reason) {
      // Told once: polling goes on, and the next tries may be many.
      if (this.#failures === 0 && this.#state === "running") this.#parts.onProblem(reason);
      this.#again(reason);
    }
  }

  #tell(nudge: Nudge): void {
    for (const listener of [...this.#listeners]) listener(nudge);
  }

  #again(reason: unknown): void {
    this.#stopListening = null;
    if (this.#state !== "running") return;
    const delayMs = retryAfterMs(reason, this.#failures++, this.#parts.runtime);
    this.#timer = this.#parts.runtime.timer(() => void this.#subscribe(), delayMs);
  }
}
