import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EverstepError, StoreError } from "../model/error.ts";
import { errorLimits } from "../model/limits.ts";
import type { StoredError } from "../model/value.ts";
import { decodeValue, encodeValue } from "./codec.ts";
import { isNonRetryable, NonRetryableError, StepTimeoutError, WaitForEventTimeoutError } from "./errors.ts";
import { fromStoredError, toStoredError } from "./stored-error.ts";

function kept(thrown: unknown): Record<string, unknown> {
  const { properties } = toStoredError(thrown);
  return properties === undefined ? {} : (decodeValue(properties) as Record<string, unknown>);
}

function roundTrip(thrown: unknown): Error {
  return fromStoredError(toStoredError(thrown));
}

function withProperties<Target extends object>(target: Target, properties: object): Target {
  return Object.assign(target, properties);
}

function depth(error: StoredError | undefined): number {
  return error === undefined ? 0 : 1 + depth(error.cause);
}

describe("anything that is thrown can be stored", () => {
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const allTrapsThrow = new Proxy(
    new Error("inner"),
    new Proxy(
      {},
      {
        get() {
          return () => {
            throw new Error("trap");
          };
        },
      },
    ),
  );
  const unshowable = "A value that cannot be shown was thrown.";

  const thrown: [string, unknown, StoredError][] = [
    ["text is its own message", "boom", { name: "Error", message: "boom" }],
    ["empty text", "", { name: "Error", message: "" }],
    ["text with every kind of character", "a\0b\n🦆\ud83e", { name: "Error", message: "a\0b\n🦆\ud83e" }],
    ["a number", 42, { name: "Error", message: "42" }],
    ["zero", 0, { name: "Error", message: "0" }],
    ["NaN", Number.NaN, { name: "Error", message: "NaN" }],
    ["false", false, { name: "Error", message: "false" }],
    ["a bigint", 5n, { name: "Error", message: "5" }],
    ["a symbol", Symbol("s"), { name: "Error", message: "Symbol(s)" }],
    [
      "undefined",
      undefined,
      { name: "Error", message: "undefined was thrown instead of an error.", code: "UNKNOWN_ERROR" },
    ],
    ["null", null, { name: "Error", message: "null was thrown instead of an error.", code: "UNKNOWN_ERROR" }],
    ["an empty object", {}, { name: "Error", message: "An object without a message was thrown." }],
    [
      "a plain object keeps its name, message, code and data",
      { name: "PostgrestError", message: "no such row", code: "PGRST116", hint: null, status: 406 },
      {
        name: "PostgrestError",
        message: "no such row",
        properties: { json: '{"code":"PGRST116","hint":null,"status":406}', marks: null },
      },
    ],
    [
      "a plain object keeps its cause",
      { message: "outer", cause: { name: "Inner", message: "inner", code: 7 } },
      {
        name: "Error",
        message: "outer",
        cause: { name: "Inner", message: "inner", properties: { json: '{"code":7}', marks: null } },
      },
    ],
    [
      "a plain object without a message is described by its data",
      { status: 503 },
      {
        name: "Error",
        message: 'An object without a message was thrown: {"status":503}',
        properties: { json: '{"status":503}', marks: null },
      },
    ],
    [
      "an object of another kind is described by that",
      new Response(null, { status: 404 }),
      { name: "Error", message: "An object without a message was thrown: [object Response]" },
    ],
    [
      "an object without prototype",
      Object.assign(Object.create(null), { message: "bare" }),
      { name: "Error", message: "bare" },
    ],
    [
      "an empty object without prototype",
      Object.create(null),
      { name: "Error", message: unshowable, code: "UNKNOWN_ERROR" },
    ],
    ["an object that says itself what it is", { toString: () => "me" }, { name: "Error", message: "me" }],
    ["a revoked proxy", revoked, { name: "Error", message: unshowable, code: "UNKNOWN_ERROR" }],
    [
      "a proxy whose every trap throws",
      allTrapsThrow,
      { name: "Error", message: unshowable, code: "UNKNOWN_ERROR" },
    ],
    [
      "an object that will not become text",
      {
        toString() {
          throw new Error("no");
        },
      },
      { name: "Error", message: unshowable, code: "UNKNOWN_ERROR" },
    ],
  ];

  test.each(thrown)("%s", (_name, value, stored) => {
    expect(toStoredError(value)).toEqual(stored);
    const error = fromStoredError(stored);
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.message]).toEqual([stored.name, stored.message]);
    expect(toStoredError(error)).toEqual(stored);
  });

  test("a function is its source", () => {
    expect(toStoredError(() => 1).message).toBe("() => 1");
  });

  test("an error whose every getter throws", () => {
    const error = new Error("x");
    for (const key of ["name", "message", "stack", "cause", "code", "extra"]) {
      Object.defineProperty(error, key, {
        enumerable: true,
        get() {
          throw new Error(`no ${key}`);
        },
      });
    }
    expect(toStoredError(error)).toEqual({ name: "Error", message: "" });
  });

  test("names, messages and stacks that are not text", () => {
    const error = withProperties(new Error("x"), {
      name: 5,
      message: { toString: () => "told" },
      stack: ["frame"],
    });
    expect(toStoredError(error)).toEqual({ name: "Error", message: "told" });
  });

  test("an error of another realm", () => {
    const error = runInContext('Object.assign(new TypeError("far"), { status: 1 })', createContext({}));
    expect(toStoredError(error)).toMatchObject({ name: "TypeError", message: "far" });
    expect(roundTrip(error)).toBeInstanceOf(TypeError);
  });

  test("an aborted signal", () => {
    const reason = AbortSignal.abort().reason;
    expect(roundTrip(reason)).toMatchObject({ name: "AbortError", message: reason.message });
  });

  test("any value at all, and the result is plain JSON", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withDate: true,
          withMap: true,
          withSet: true,
          withBigInt: true,
          withNullPrototype: true,
        }),
        (value) => {
          const stored = toStoredError(value);
          expect(JSON.parse(JSON.stringify(stored))).toEqual(stored);
          expect(toStoredError(fromStoredError(stored))).toEqual(stored);
        },
      ),
    );
  });
});

describe("everything is bounded", () => {
  test("a message of ten megabytes is cut, says so, and leaves room for the frames of the stack", () => {
    const error = new Error("m".repeat(10_000_000));
    const stored = toStoredError(error);
    expect(stored.message.length).toBeLessThanOrEqual(errorLimits.messageMax);
    expect(stored.message.endsWith("… (10000000 characters)")).toBe(true);
    expect(stored.stack!.length).toBeLessThanOrEqual(errorLimits.stackMax);
    expect(stored.stack).toContain("stored-error.test.ts");
    expect(toStoredError(fromStoredError(stored))).toEqual(stored);
  });

  test("a message is not cut through a character", () => {
    for (const shift of [0, 1]) {
      const { message } = toStoredError("x".repeat(shift) + "🦆".repeat(10_000));
      expect(message.length).toBeLessThanOrEqual(errorLimits.messageMax);
      expect(message).not.toMatch(/\p{Surrogate}/u);
    }
  });

  test("a message of just the allowed length is left alone", () => {
    const message = "m".repeat(errorLimits.messageMax);
    expect(toStoredError(message).message).toBe(message);
    expect(toStoredError(`${message}m`).message).not.toContain(message);
  });

  test("names and codes are cut", () => {
    const error = new EverstepError("UNKNOWN_ERROR", "x");
    withProperties(error, { name: "n".repeat(10_000), code: "c".repeat(10_000) });
    const stored = toStoredError(error);
    expect([stored.name.length, stored.code?.length]).toEqual([errorLimits.nameMax, errorLimits.nameMax]);
  });

  test("a chain of causes ends", () => {
    let error = new Error("first");
    for (let level = 0; level < 100; level++) error = new Error(`level ${level}`, { cause: error });
    expect(depth(toStoredError(error))).toBe(1 + errorLimits.causeDepth);
  });

  test("a circle of causes ends", () => {
    const first = new Error("first");
    const second = new Error("second", { cause: first });
    first.cause = second;
    const itself = new Error("itself");
    itself.cause = itself;
    expect(depth(toStoredError(first))).toBe(2);
    expect(depth(toStoredError(itself))).toBe(1);
  });

  test("many thousand properties cost little", () => {
    const error = withProperties(
      new Error("x"),
      Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])),
    );
    expect(JSON.stringify(toStoredError(error)).length).toBeLessThan(30_000);
  });

  test("no error is larger than all limits together", () => {
    const big = "x".repeat(100_000);
    let error = withProperties(new Error(big), { name: big, stack: big, extra: big });
    for (let level = 0; level < 10; level++) {
      error = withProperties(new Error(big, { cause: error }), { name: big, stack: big, extra: big });
    }
    expect(JSON.stringify(toStoredError(error)).length).toBeLessThan(200_000);
  });
});

describe("own properties", () => {
  test("are kept, rich ones too", () => {
    const at = new Date(0);
    expect(kept(withProperties(new Error("x"), { status: 404, at, tags: new Set(["a"]) }))).toEqual({
      status: 404,
      at,
      tags: new Set(["a"]),
    });
  });

  test("that cannot be kept are dropped, and the others stay", () => {
    const error = withProperties(new Error("x"), {
      config: { adapter: () => 1 },
      request: new (class Socket {})(),
      big: "x".repeat(5000),
      status: 503,
      none: undefined,
      toJSON: () => ({}),
    });
    Object.defineProperty(error, "bad", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    });
    expect(kept(error)).toEqual({ status: 503 });
  });

  test("stay below four kibibytes together", () => {
    const error = withProperties(new Error("x"), { a: "a".repeat(3000), b: "b".repeat(3000), c: "c" });
    expect(Object.keys(kept(error))).toEqual(["a", "c"]);
  });

  test("an author's code is a property, not ours", () => {
    const stored = toStoredError(withProperties(new Error("x"), { code: "ENOENT" }));
    expect(stored.code).toBeUndefined();
    expect(fromStoredError(stored)).toMatchObject({ code: "ENOENT" });
  });

  test("called __proto__ reach no prototype", () => {
    const error = new Error("x");
    Object.defineProperty(error, "__proto__", { value: { polluted: true }, enumerable: true });
    const back = roundTrip(error);
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("the error comes back", () => {
  test.each([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])(
    "as a %o",
    (Class) => {
      const error = withProperties(new Class("boom", { cause: new TypeError("why") }), { status: 1 });
      const back = roundTrip(error);
      expect(Object.getPrototypeOf(back)).toBe(Class.prototype);
      expect(back).toMatchObject({ name: error.name, message: "boom", stack: error.stack, status: 1 });
      expect(back.cause).toBeInstanceOf(TypeError);
      expect(Object.keys(back)).toEqual(["status"]);
      expect(toStoredError(back)).toEqual(toStoredError(error));
    },
  );

  test("as an AggregateError with the first of its errors", () => {
    const errors = [new TypeError("one"), "two", ...new Array(100).fill(new Error("more"))];
    const back = roundTrip(new AggregateError(errors, "all failed")) as AggregateError;
    expect(back).toBeInstanceOf(AggregateError);
    expect(back.message).toBe("all failed");
    expect(back.errors).toHaveLength(10);
    expect(back.errors[0]).toBeInstanceOf(TypeError);
    expect(back.errors[1]).toMatchObject({ name: "Error", message: "two" });
    expect(Object.keys(back)).toEqual([]);
    expect(toStoredError(back)).toEqual(toStoredError(fromStoredError(toStoredError(back))));
  });

  test("as an AggregateError even if its errors were replaced by something else", () => {
    const error = withProperties(new AggregateError([], "odd"), { errors: "gone" });
    expect((roundTrip(error) as AggregateError).errors).toEqual([]);
  });

  test("with the name of a class we do not know, as a plain Error", () => {
    class HttpError extends TypeError {
      override name = "HttpError";
      status = 404;
    }
    const back = roundTrip(new HttpError("gone"));
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
    expect(back).toMatchObject({ name: "HttpError", message: "gone", status: 404 });
  });

  test("as an EverstepError with its code and details", () => {
    const error = new EverstepError("VALUE_NOT_SERIALIZABLE", "no", {
      details: { path: "a.b" },
      cause: new Error("why"),
    });
    const stored = toStoredError(error);
    expect(stored).toMatchObject({
      name: "EverstepError",
      code: "VALUE_NOT_SERIALIZABLE",
      cause: { message: "why" },
    });
    const back = fromStoredError(stored);
    expect(back).toBeInstanceOf(EverstepError);
    expect(back).toMatchObject({ code: "VALUE_NOT_SERIALIZABLE", message: "no", details: { path: "a.b" } });
    expect(toStoredError(back)).toEqual(stored);
  });

  test("as an EverstepError when it was a kind of one, also of another copy of the library", () => {
    const back = roundTrip(new StoreError("conflict", "STORE_BUSY", "busy"));
    expect(back).toBeInstanceOf(EverstepError);
    expect(back).toMatchObject({ name: "StoreError", code: "STORE_BUSY", failure: "conflict" });
    const other = withProperties(new Error("far"), { name: "EverstepError", code: "STORE_BUSY" });
    expect(roundTrip(other)).toBeInstanceOf(EverstepError);
  });

  test("as a NonRetryableError under any name", () => {
    for (const error of [new NonRetryableError("no"), new NonRetryableError("no", "CardDeclined")]) {
      const back = roundTrip(error);
      expect(back).toBeInstanceOf(NonRetryableError);
      expect(isNonRetryable(back)).toBe(true);
      expect([back.name, back.message]).toEqual([error.name, "no"]);
      expect(Object.keys(back)).toEqual(Object.keys(error));
      expect(toStoredError(back)).toEqual(toStoredError(error));
    }
  });

  test("as a NonRetryableError even when its other properties do not fit", () => {
    const error = withProperties(new NonRetryableError("no", "CardDeclined"), { big: "x".repeat(10_000) });
    expect(isNonRetryable(roundTrip(error))).toBe(true);
  });

  test("as a WaitForEventTimeoutError that knows what was missed", () => {
    const error = new WaitForEventTimeoutError("approval", { topic: "order.approved" });
    const stored = toStoredError(error);
    expect(stored).toMatchObject({
      message: 'WAIT_FOR_EVENT_TIMEOUT: step "approval" got nothing from topic "order.approved" in time.',
      code: "WAIT_FOR_EVENT_TIMEOUT",
    });
    const back = fromStoredError(stored);
    expect(back).toBeInstanceOf(WaitForEventTimeoutError);
    expect(back).toMatchObject({ code: "WAIT_FOR_EVENT_TIMEOUT", step: "approval", topic: "order.approved" });
    expect("eventType" in back).toBe(false);
    expect(toStoredError(back)).toEqual(stored);
    const earlier = { ...stored, message: "WAIT_FOR_EVENT_TIMEOUT" };
    expect(toStoredError(fromStoredError(earlier))).toEqual(earlier);
  });

  test("as a StepTimeoutError", () => {
    const error = new StepTimeoutError("charge", 150, 2);
    const back = roundTrip(error);
    expect(back).toBeInstanceOf(StepTimeoutError);
    expect(back).toMatchObject({
      message: error.message,
      stack: error.stack,
      step: "charge",
      timeoutMs: 150,
      attempt: 2,
    });
    expect(toStoredError(back)).toEqual(toStoredError(error));
  });

  test("as an ordinary error when somebody else uses one of our names", () => {
    for (const name of ["StepTimeoutError", "WaitForEventTimeoutError", "EverstepError"]) {
      const back = roundTrip(withProperties(new Error("mine"), { name }));
      expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
      expect([back.name, back.message]).toEqual([name, "mine"]);
    }
  });

  test("and says so when what was stored cannot be read", () => {
    const properties = { json: "{", marks: null };
    expect(() => fromStoredError({ name: "Error", message: "x", properties })).toThrow(
      expect.objectContaining({ code: "HISTORY_UNREADABLE" }),
    );
    expect(fromStoredError({ name: "Error", message: "x", properties: encodeValue(5, "x") }).message).toBe(
      "x",
    );
  });
});
