import type { Runtime } from "../../model/runtime.ts";

/**
 * Reads for streams, one after the other. After each it rests for as long as that took, and at least until everybody else
 * had a turn: however many streams there are, they take half of what one reader can do, and other requests never queue up
 * behind them.
 */
export class ReadingLane {
  readonly #runtime: Pick<Runtime, "monotonic" | "timer" | "drained">;
  readonly #waiting: (() => Promise<void>)[] = [];
  #isAtWork = false;

  constructor(runtime: Pick<Runtime, "monotonic" | "timer" | "drained">) {
    this.#runtime = runtime;
  }

  run<Value>(read: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => read().then(resolve, reject));
      if (!this.#isAtWork) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const begun = this.#runtime.monotonic();
      await next();
      await this.#rest(this.#runtime.monotonic() - begun);
    }
    this.#isAtWork = false;
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      // Timers are not exact below this.
      if (ms < 1) this.#runtime.drained(resolve);
      else this.#runtime.timer(resolve, ms);
    });
  }
}
