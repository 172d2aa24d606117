/** How long whoever asked a store in vain waits before asking again, and when that makes sense at all. */
import { storeRetryDelayMs } from "../engine/backoff.ts";
import { StoreError } from "../model/error.ts";
import { storeRetry } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";

export function isRetryable(error: unknown): boolean {
  return error instanceof StoreError && error.retryable;
}

/** The store is out of reach for everybody, not just for the request at hand. */
export function isOutage(error: unknown): boolean {
  return isRetryable(error) && (error as StoreError).code === "STORE_UNAVAILABLE";
}

/** Contention passes within milliseconds, an outage in seconds. */
export function retryAfterMs(failure: unknown, repetition: number, runtime: Runtime): number {
  const isContended = failure instanceof StoreError && failure.failure === "conflict";
  return isContended
    ? Math.min(250, 5 * 2 ** repetition) * (0.5 + runtime.float() / 2)
    : storeRetryDelayMs(repetition, () => runtime.float());
}

export function pauseAfter(failure: unknown, repetition: number, runtime: Runtime): Promise<void> {
  return new Promise((resolve) => {
    runtime.timer(resolve, retryAfterMs(failure, repetition, runtime));
  });
}

/** Asks again after passing failures, as often as a store call is tried. For what may be asked any number of times. */
export async function patiently<Result>(
  ask: () => Promise<Result>,
  runtime: Runtime,
  onFailure?: (failure: unknown) => void,
): Promise<Result> {
  for (let repetition = 0; ; repetition++) {
    try {
      return await ask();
    } catch (failure) {
      if (!isRetryable(failure) || repetition >= storeRetry.retries) throw failure;
      onFailure?.(failure);
      await pauseAfter(failure, repetition, runtime);
    }
  }
}
