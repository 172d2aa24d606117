import type { Runtime } from "../model/runtime.ts";

/** Names the task of the event loop that is running, so that one can tell later whether it still is. */
export class Instant {
  readonly #runtime: Runtime;
  #current: object | null = null;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  now(): object {
    if (this.#current === null) {
      this.#current = {};
      this.#runtime.drained(() => {
        this.#current = null;
      });
    }
    return this.#current;
  }

  is(instant: object): boolean {
    return instant === this.#current;
  }
}
