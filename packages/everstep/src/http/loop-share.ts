/**
 * Reads of a store in this process (a file, memory) keep everybody else waiting: nothing else happens until they are over.
 * However many are asked for at once, they are made one after the other, and after some milliseconds of it the next waits
 * for as long: runners, renewals of leases and other requests always have half of the process. A read that waits for a
 * server holds up nobody.
 */
import type { Runtime } from "../model/runtime.ts";

/** So much may go by before others have a turn. */
const spellMs = 10;

export class LoopShare {
  readonly #runtime: Pick<Runtime, "monotonic" | "timer" | "drained">;
  /** First come, first served. */
  readonly #waiting: (() => void)[] = [];
  /** Something is being read that has left nobody a turn yet, or rests after that. */
  #isTaken = false;
  /** For how long nobody else had a turn. */
  #spentMs = 0;

  constructor(runtime: Pick<Runtime, "monotonic" | "timer" | "drained">) {
    this.#runtime = runtime;
  }

  async run<Made>(make: () => Promise<Made>): Promise<Made> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    let hasLeft = false;
    const leave = (spentMs: number): void => {
      if (hasLeft) return;
      hasLeft = true;
      this.#rest(spentMs);
    };
    this.#runtime.drained(() => {
      this.#spentMs = 0;
      leave(0);
    });
    const begun = this.#runtime.monotonic();
    try {
      return await make();
    } finally {
      leave(this.#runtime.monotonic() - begun);
    }
  }

  #rest(ms: number): void {
    this.#spentMs += ms;
    const restMs = this.#spentMs;
    if (restMs < spellMs) return this.#next();
    this.#spentMs = 0;
    this.#runtime.timer(() => this.#next(), restMs);
  }

  /** Whoever is next has it at once: nobody who comes now is before them. */
  #next(): void {
    const next = this.#waiting.shift();
    this.#isTaken = next !== undefined;
    next?.();
  }
}
