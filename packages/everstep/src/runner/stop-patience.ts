import { runnerDefaults } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import { type timedOut, withTimeout } from "../model/with-timeout.ts";

/** How long one stop waits for a store that does not answer: a while for each thing it asks, and not for ever for all of them. */
export class StopPatience {
  readonly #runtime: Runtime;
  #until = Number.POSITIVE_INFINITY;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** What was in progress has had its time. */
  begin(): void {
    this.#until = this.#runtime.monotonic() + runnerDefaults.stopStoreMsMax;
  }

  get leftMs(): number {
    return Math.max(0, Math.min(runnerDefaults.stopStoreMs, this.#until - this.#runtime.monotonic()));
  }

  wait<Outcome>(work: Promise<Outcome>): Promise<Outcome | typeof timedOut> {
    return withTimeout(this.#runtime, this.leftMs, work);
  }
}
