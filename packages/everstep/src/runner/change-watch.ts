import { runnerDefaults } from "../model/limits.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Store } from "../store/store.ts";

/** Looks often, where looking is nearly free, whether another process has written: what it wrote may be due here. */
export class ChangeWatch {
  readonly #store: Store;
  readonly #runtime: Runtime;
  readonly #onChange: () => void;
  #mark: number | null = null;
  #timer: Timer | null = null;
  #running = false;

  constructor(store: Store, runtime: Runtime, onChange: () => void) {
    this.#store = store;
    this.#runtime = runtime;
    this.#onChange = onChange;
  }

  start(): void {
    if (!this.#store.changeMark) return;
    this.#running = true;
    void this.#look();
  }

  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    // If the store cannot be asked, the next sweep says so; this only looks again.
    const mark = (await this.#store.changeMark?.().catch(() => this.#mark)) ?? null;
    if (!this.#running) return;
    if (this.#mark !== null && mark !== this.#mark) this.#onChange();
    this.#mark = mark;
    this.#timer = this.#runtime.timer(() => void this.#look(), runnerDefaults.lookMs);
  }
}
