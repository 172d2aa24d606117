import type { Backoff } from "../authoring/workflow-step.ts";
import { crashBackoff, storeRetry } from "../model/limits.ts";

/** Delay after the n-th failed attempt: d, d, d or d, 2d, 3d or d, 2d, 4d. */
export function retryDelayMs(
  policy: { readonly backoff: Backoff; readonly factor: number; readonly maxDelayMs: number | null },
  baseMs: number,
  attempt: number,
): number {
  const grown = baseMs * growth(policy, attempt);
  const capped = policy.maxDelayMs === null ? grown : Math.min(grown, policy.maxDelayMs);
  return Math.min(Math.ceil(capped), Number.MAX_SAFE_INTEGER);
}

function growth(policy: { readonly backoff: Backoff; readonly factor: number }, attempt: number): number {
  switch (policy.backoff) {
    case "constant":
      return 1;
    case "linear":
      return attempt;
    case "exponential":
      // Bounded, because nothing times infinity is not a number.
      return Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER);
  }
}

/**
 * Delay before a run is tried again whose runners died so often in a row: at once the first time, then ever later. Drawn
 * for each run: those that died together are not tried together again.
 */
export function crashDelayMs(crashes: number, random: () => number): number {
  if (crashes <= 1) return 0;
  const grown = Math.min(crashBackoff.baseMs * crashBackoff.factor ** (crashes - 2), crashBackoff.maxMs);
  const jitterSpan = crashBackoff.jitterMsMax - crashBackoff.jitterMsMin;
  const jitter = crashBackoff.jitterMsMin + Math.round(random() * jitterSpan);
  return Math.min(grown + jitter, crashBackoff.maxMs);
}

/** Delay before the n-th repetition (from 0) of a store call that failed for a passing reason. */
export function storeRetryDelayMs(
  repetition: number,
  random: () => number,
  maxMs: number = storeRetry.maxMs,
): number {
  const grown = Math.min(storeRetry.delayMs * storeRetry.factor ** repetition, maxMs);
  return grown * (storeRetry.jitterMin + random() * (storeRetry.jitterMax - storeRetry.jitterMin));
}
