import { parseDuration } from "./duration.ts";
import { read } from "./error-object.ts";
import { isNonRetryable } from "./errors.ts";

/**
 * What a failed attempt means for the next one:
 * `transient` and `rate-limited` are tried again, after `retryAfterMs` where the other side said so;
 * `client-error` and `validation` would fail the same way again and are not.
 */
export type ErrorCategory =
  | { readonly kind: "transient"; readonly retryAfterMs?: number }
  | { readonly kind: "rate-limited"; readonly retryAfterMs?: number }
  | { readonly kind: "client-error" }
  | { readonly kind: "validation" };

/** Says what an error means, or undefined for "no opinion". `now` is the wall clock in epoch milliseconds. */
export type Classify = (error: unknown, now?: number) => ErrorCategory | undefined;

/**
 * Knows the errors of HTTP clients by `status`, `statusCode` or `response.status`, broken connections by their
 * code, and failed schemas by their `issues`. Honours `retry-after` headers and a `retryAfter` property.
 */
export const httpClassifier: Classify = (error, now) => {
  if (typeof error !== "object" || error === null || isNonRetryable(error)) return undefined;
  const status = statusOf(error);
  if (status !== undefined) return byStatus(status, retryAfterOf(error, now));
  if (Array.isArray(read(error, "issues"))) return { kind: "validation" };
  return isConnectionFailure(error) ? again("transient", retryAfterOf(error, now)) : undefined;
};

/**
 * How long the other side asks us to wait: a `retryAfter` property (seconds, as HTTP has it, a duration with a unit, or a
 * date), else the `retry-after` header of the response (seconds or an HTTP date). A date needs `now`. Only a
 * RetryAfterError counts in milliseconds.
 */
export function retryAfterOf(error: unknown, now?: number): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const wish = read(error, "retryAfter");
  const isOurs = typeof wish === "number" && read(error, "name") === "RetryAfterError";
  return (isOurs ? believable(wish) : fromProperty(wish, now)) ?? fromHeader(retryAfterHeader(error), now);
}

/** Nobody means to be asked again later than this; a longer wish is not believed. */
const retryAfterMsMax = 365 * 24 * 60 * 60 * 1000;

function byStatus(status: number, retryAfterMs: number | undefined): ErrorCategory | undefined {
  if (status === 429) return again("rate-limited", retryAfterMs);
  if (status >= 500 || status === 408 || status === 425) return again("transient", retryAfterMs);
  if (status === 422) return { kind: "validation" };
  return status >= 400 ? { kind: "client-error" } : undefined;
}

function again(kind: "transient" | "rate-limited", retryAfterMs: number | undefined): ErrorCategory {
  return retryAfterMs === undefined ? { kind } : { kind, retryAfterMs };
}

function statusOf(error: object): number | undefined {
  const candidates = [
    read(error, "status"),
    read(error, "statusCode"),
    read(read(error, "response"), "status"),
  ];
  return candidates.find(isStatus);
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;
}

const connectionCodes: ReadonlySet<unknown> = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
  "STEP_TIMEOUT",
]);

// fetch reports a broken connection as a TypeError whose cause has the code.
function isConnectionFailure(error: object): boolean {
  if (read(error, "name") === "TimeoutError") return true;
  return connectionCodes.has(read(error, "code")) || connectionCodes.has(read(read(error, "cause"), "code"));
}

function retryAfterHeader(error: object): unknown {
  return headerOf(read(read(error, "response"), "headers")) ?? headerOf(read(error, "headers"));
}

/** Names of headers have no case, but objects that hold them do. */
function headerOf(headers: unknown): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  try {
    const value = typeof read(headers, "get") === "function" ? gotten(headers) : listed(headers);
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return undefined;
  }
}

function gotten(headers: object): unknown {
  const { get } = headers as { get(name: string): unknown };
  return get.call(headers, "retry-after") ?? get.call(headers, "Retry-After");
}

function listed(headers: object): unknown {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === "retry-after");
  return name === undefined ? undefined : read(headers, name);
}

function fromProperty(value: unknown, now: number | undefined): number | undefined {
  if (value instanceof Date) return until(value.getTime(), now);
  if (value === undefined) return undefined;
  return fromHeader(value, now) ?? fromText(value);
}

function fromText(value: unknown): number | undefined {
  try {
    return typeof value === "string" ? believable(parseDuration(value, "retryAfter")) : undefined;
  } catch {
    // Somebody else's property of that name.
    return undefined;
  }
}

function fromHeader(value: unknown, now: number | undefined): number | undefined {
  if (typeof value === "number") return believable(value * 1000);
  if (typeof value !== "string" || value.length > 64) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return believable(Number(value) * 1000);
  // Every form of an HTTP date begins with the weekday; Date.parse alone would take "-5" for a month.
  return /^[A-Z][a-z]{2}/.test(value) ? until(Date.parse(value), now) : undefined;
}

function until(at: number, now: number | undefined): number | undefined {
  return now === undefined ? undefined : believable(Math.max(0, at - now));
}

function believable(ms: number): number | undefined {
  return ms >= 0 && ms <= retryAfterMsMax ? Math.ceil(ms) : undefined;
}
