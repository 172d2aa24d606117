import { describe, expect, test } from "vitest";
import { type Classify, type ErrorCategory, httpClassifier, retryAfterOf } from "./classify.ts";
import { NonRetryableError, RetryAfterError, StepTimeoutError } from "./errors.ts";
import { fromStoredError, toStoredError } from "./stored-error.ts";

const now = Date.UTC(2026, 0, 1);
const inAMinute = new Date(now + 60_000);

function failed(properties: object): Error {
  return Object.assign(new Error("request failed"), properties);
}

function answered(status: number, headers: Record<string, string> = {}): Error {
  return failed({ response: { status, headers: new Headers(headers) } });
}

describe("a status says what to do", () => {
  const transient: ErrorCategory = { kind: "transient" };
  const client: ErrorCategory = { kind: "client-error" };
  test.each<[number, ErrorCategory | undefined]>([
    [500, transient],
    [502, transient],
    [503, transient],
    [504, transient],
    [599, transient],
    [408, transient],
    [425, transient],
    [429, { kind: "rate-limited" }],
    [400, client],
    [401, client],
    [403, client],
    [404, client],
    [409, client],
    [422, { kind: "validation" }],
    [200, undefined],
    [302, undefined],
  ])("%d", (status, category) => {
    expect(httpClassifier(failed({ status }))).toEqual(category);
    expect(httpClassifier(failed({ statusCode: status }))).toEqual(category);
    expect(httpClassifier(answered(status))).toEqual(category);
  });

  test.each([0, 99, 600, 404.5, "404", Number.NaN, null])("%j is not a status", (status) => {
    expect(httpClassifier(failed({ status }))).toBeUndefined();
  });

  test("the first status that is one counts", () => {
    expect(httpClassifier(failed({ status: "failed", statusCode: 503 }))).toEqual(transient);
  });
});

describe("retry-after is honoured", () => {
  test.each<[string, string, number | undefined]>([
    ["seconds", "120", 120_000],
    ["seconds with space around", " 5 ", 5000],
    ["no time at all", "0", 0],
    ["a date", inAMinute.toUTCString(), 60_000],
    ["a date in an old form", "Thursday, 01-Jan-26 00:01:00 GMT", 60_000],
    ["a date that has passed", new Date(now - 5000).toUTCString(), 0],
    ["a word", "soon", undefined],
    ["a word that begins like a weekday", "Sometime", undefined],
    ["a negative number", "-5", undefined],
    ["a fraction", "1.5", undefined],
    ["a number beyond any date", "99999999999999999999", undefined],
    ["nothing", "", undefined],
    ["a number with a hundred zeros", `${"0".repeat(100)}5`, undefined],
    ["a megabyte", "9".repeat(1_000_000), undefined],
  ])("%s", (_name, header, ms) => {
    const category = httpClassifier(answered(429, { "retry-after": header }), now);
    const asked = ms === undefined ? {} : { retryAfterMs: ms };
    expect(category).toEqual({ kind: "rate-limited", ...asked });
  });

  test("a busy server may ask for time, too", () => {
    expect(httpClassifier(answered(503, { "Retry-After": "7" }))).toEqual({
      kind: "transient",
      retryAfterMs: 7000,
    });
  });

  test("headers may be a plain object, on the response or on the error", () => {
    expect(retryAfterOf(failed({ response: { headers: { "retry-after": "3" } } }))).toBe(3000);
    expect(retryAfterOf(failed({ headers: { "retry-after": 4 } }))).toBe(4000);
    expect(retryAfterOf(failed({ headers: new Headers({ "retry-after": "5" }) }))).toBe(5000);
  });

  test("a date needs to know what time it is", () => {
    expect(retryAfterOf(answered(429, { "retry-after": inAMinute.toUTCString() }))).toBeUndefined();
    expect(retryAfterOf(new RetryAfterError("later", inAMinute))).toBeUndefined();
    expect(retryAfterOf(new RetryAfterError("later", inAMinute), now)).toBe(60_000);
  });

  test("a header is found however its name is written, and in a list of values", () => {
    expect(retryAfterOf(failed({ response: { headers: { "Retry-After": "3" } } }))).toBe(3000);
    expect(retryAfterOf(failed({ headers: { "RETRY-AFTER": ["4", "9"] } }))).toBe(4000);
    expect(retryAfterOf(failed({ headers: new Map([["Retry-After", "5"]]) }))).toBe(5000);
    expect(retryAfterOf(failed({ headers: { "x-retry-after": "6" } }))).toBeUndefined();
  });

  test("a number in a retryAfter property is seconds, as HTTP has it; only our own error counts milliseconds", () => {
    expect(retryAfterOf(failed({ retryAfter: 30 }))).toBe(30_000);
    expect(retryAfterOf(failed({ retryAfter: "30" }))).toBe(30_000);
    expect(retryAfterOf(failed({ retryAfter: 0.5 }))).toBe(500);
    expect(retryAfterOf(failed({ retryAfter: inAMinute.toUTCString() }), now)).toBe(60_000);
    expect(retryAfterOf(fromStoredError(toStoredError(new RetryAfterError("later", 1500))))).toBe(1500);
  });

  test("a retryAfter property goes first, and may be a duration", () => {
    expect(retryAfterOf(new RetryAfterError("later", 1500))).toBe(1500);
    expect(retryAfterOf(failed({ retryAfter: "2 seconds" }))).toBe(2000);
    expect(retryAfterOf(failed({ retryAfter: 10, headers: { "retry-after": "1" } }))).toBe(10_000);
    expect(retryAfterOf(failed({ retryAfter: {}, headers: { "retry-after": "1" } }))).toBe(1000);
    expect(retryAfterOf(failed({ retryAfter: new Date(Number.NaN) }), now)).toBeUndefined();
  });

  test("nobody waits for centuries because a header says so", () => {
    expect(retryAfterOf(answered(429, { "retry-after": "9999999999" }))).toBeUndefined();
    expect(retryAfterOf(failed({ retryAfter: "2 years" }))).toBeUndefined();
  });
});

describe("without a status", () => {
  test.each(["ECONNRESET", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "EPIPE", "UND_ERR_SOCKET"])(
    "%s is transient, also as the cause of a failed fetch",
    (code) => {
      expect(httpClassifier(failed({ code }))).toEqual({ kind: "transient" });
      expect(httpClassifier(new TypeError("fetch failed", { cause: { code } }))).toEqual({
        kind: "transient",
      });
    },
  );

  test("a timeout is transient", () => {
    expect(httpClassifier(new DOMException("too slow", "TimeoutError"))).toEqual({ kind: "transient" });
    expect(httpClassifier(new StepTimeoutError("charge", 5, 1))).toEqual({ kind: "transient" });
  });

  test("issues are a failed validation", () => {
    expect(httpClassifier(failed({ issues: [{ message: "required" }] }))).toEqual({ kind: "validation" });
  });

  test("a NonRetryableError has already said what it is", () => {
    expect(httpClassifier(Object.assign(new NonRetryableError("no"), { status: 503 }))).toBeUndefined();
  });

  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["text", "503"],
    ["a number", 503],
    ["an ordinary Error", new Error("503 Service Unavailable")],
    ["a revoked proxy", revoked],
    [
      "getters that throw",
      {
        get status() {
          throw new Error("no");
        },
        response: {
          get headers() {
            throw new Error("no");
          },
        },
      },
    ],
  ])("%s is not judged", (_name, error) => {
    expect(httpClassifier(error, now)).toBeUndefined();
    expect(retryAfterOf(error, now)).toBeUndefined();
  });

  test("headers that throw are no headers", () => {
    const headers = {
      get() {
        throw new Error("no");
      },
    };
    expect(httpClassifier(failed({ status: 429, headers }))).toEqual({ kind: "rate-limited" });
  });
});

test("an author's own classifier may ignore the time", () => {
  const classify: Classify = (error) => (error === "busy" ? { kind: "transient" } : undefined);
  expect(classify("busy")).toEqual({ kind: "transient" });
});
