/** How long whoever asked a store in vain waits before asking again, and when that makes sense at all. */
import { storeRetryDelayMs } from "../engine/backoff.ts";
import { EverstepError, StoreError } from "../model/error.ts";
import { runnerDefaults, storeRetry } from "../model/limits.ts";
import type { Runtime, Timer } from "../model/runtime.ts";

export function isRetryable(error: unknown): boolean {
  return error instanceof StoreError && error.retryable;
}

/** The store is, as far as one can tell, out of reach for everybody, not just for the request at hand. */
export function isOutage(error: unknown): boolean {
  return isRetryable(error) && (error as StoreError).failure !== "conflict";
}

/** Contention passes within milliseconds, an outage in seconds. */
export function retryAfterMs(
  failure: unknown,
  repetition: number,
  runtime: Runtime,
  maxMs: number = storeRetry.maxMs,
): number {
  const isContended = failure instanceof StoreError && failure.failure === "conflict";
  return isContended
    ? Math.min(250, 5 * 2 ** repetition) * (0.5 + runtime.float() / 2)
    : storeRetryDelayMs(repetition, () => runtime.float(), maxMs);
}

/** The same for those who ask on behalf of all: a store that is back is noticed within seconds. */
export function askAgainMs(failure: unknown, repetition: number, runtime: Runtime): number {
  return retryAfterMs(failure, repetition, runtime, runnerDefaults.outageMsMax);
}

/** The pauses of one app. Once stopped they end at once, with an error, and leave no timer. */
export class Patience {
  readonly #runtime: Runtime;
  readonly #pauses = new Set<{ readonly timer: Timer; readonly cut: () => void }>();
  #isOver = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(appStopped());
      const end = (settle: () => void): void => {
        this.#pauses.delete(pause);
        settle();
      };
      const timer = this.#runtime.timer(() => end(resolve), ms);
      const pause = { timer, cut: () => end(() => reject(appStopped())) };
      this.#pauses.add(pause);
    });
  }

  /** Asks again after passing failures, as often as a store call is tried. For what may be asked any number of times. */
  async patiently<Result>(
    ask: () => Promise<Result>,
    onFailure?: (failure: unknown) => void,
  ): Promise<Result> {
    for (let repetition = 0; ; repetition++) {
      try {
        return await ask();
      } catch (failure) {
        if (!isRetryable(failure) || repetition >= storeRetry.retries) throw failure;
        onFailure?.(failure);
        await this.pause(retryAfterMs(failure, repetition, this.#runtime));
      }
    }
  }

  stop(): void {
    this.#isOver = true;
    for (const { timer, cut } of [...this.#pauses]) {
      timer.cancel();
      cut();
    }
  }
}

export function appStopped(): EverstepError {
  return new EverstepError("APP_STOPPED", "This app was stopped. Create another with createWorkflows.");
}
