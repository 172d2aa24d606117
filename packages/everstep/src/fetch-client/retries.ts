/** When a request that failed for a passing reason is tried again. */

/** Part of the delay that is added at random, so that many clients do not come back all at once. */
const jitter = 0.2;

export interface RetryTiming {
  readonly delayMs: number;
  /** No wait is longer than this. */
  readonly mostMs: number;
  readonly float: () => number;
}

/** `failures` tries have failed, the last of them with `retryAfterMs` if the server said when to come back. */
export function retryDelayMs(failures: number, retryAfterMs: number | null, timing: RetryTiming): number {
  const { delayMs, mostMs, float } = timing;
  const own = delayMs * 2 ** Math.min(failures - 1, 16) * (1 + jitter * float());
  return Math.min(Math.max(own, retryAfterMs ?? 0), mostMs);
}

/** The answer may be another one the next time. */
export function isPassingStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Of a `Retry-After` header, in seconds or as a date; null when there is none that can be read. */
export function readRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Only dates as HTTP writes them: Date.parse takes many a word for a date.
  const at = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
