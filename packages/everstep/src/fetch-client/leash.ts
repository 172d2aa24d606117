import type { Runtime } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";

/** Nobody answered, or said anything more, in time. */
export class TimeUp extends Error {
  override readonly name = "TimeUp";

  constructor(ms: number) {
    super(`nothing within ${ms} ms`);
  }
}

/** What one request is held by: whoever cuts it, or whoever called, ends it at once, whatever it waits for. */
export class Leash {
  readonly #controller = new AbortController();
  readonly #runtime: Runtime;
  readonly #outer: AbortSignal | undefined;

  constructor(runtime: Runtime, outer?: AbortSignal) {
    this.#runtime = runtime;
    this.#outer = outer;
    if (outer?.aborted) this.cut(outer.reason);
    else outer?.addEventListener("abort", this.#follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cut(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Nothing more is to be held. */
  release(): void {
    this.#outer?.removeEventListener("abort", this.#follow);
  }

  /** Cut when it takes longer. */
  async within<Result>(ms: number, work: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> {
    const outcome = await withTimeout(this.#runtime, ms, this.#untilCut(work));
    if (outcome !== timedOut) return outcome;
    this.cut(new TimeUp(ms));
    throw this.signal.reason;
  }

  #untilCut<Result>(work: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onCut = (): void => reject(signal.reason);
      signal.addEventListener("abort", onCut, { once: true });
      // Inside of a promise, so that what is thrown at once is treated alike.
      Promise.resolve(signal)
        .then(work)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", onCut));
    });
  }

  /** Waits; true when the time has passed, false when it was cut. */
  pause(ms: number): Promise<boolean> {
    const { signal } = this;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const onCut = (): void => {
        timer.cancel();
        resolve(false);
      };
      const timer = this.#runtime.timer(() => {
        signal.removeEventListener("abort", onCut);
        resolve(true);
      }, ms);
      signal.addEventListener("abort", onCut, { once: true });
    });
  }

  readonly #follow = (): void => this.cut(this.#outer?.reason);
}
