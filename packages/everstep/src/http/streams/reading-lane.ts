import type { Runtime } from "../../model/runtime.ts";
import { FairLine } from "../fair-line.ts";

/**
 * Reads for streams, one after the other, in turns between clients: whoever has many streams does not keep the news from
 * others. After each it rests for as long as that took, and at least until everybody else had a turn: however many streams
 * there are, they take half of what one reader can do, and other requests never queue up behind them.
 */
export class ReadingLane {
  readonly #runtime: Pick<Runtime, "monotonic" | "timer" | "drained">;
  readonly #line = new FairLine({ max: 1, maxPerClient: 1 });

  constructor(runtime: Pick<Runtime, "monotonic" | "timer" | "drained">) {
    this.#runtime = runtime;
  }

  async run<Value>(client: string, read: () => Promise<Value>): Promise<Value> {
    const leave = await this.#line.enter(client);
    const begun = this.#runtime.monotonic();
    try {
      return await read();
    } finally {
      this.#rest(this.#runtime.monotonic() - begun, leave);
    }
  }

  #rest(ms: number, rested: () => void): void {
    // Timers are not exact below this.
    if (ms < 1) this.#runtime.drained(rested);
    else this.#runtime.timer(rested, ms);
  }
}
