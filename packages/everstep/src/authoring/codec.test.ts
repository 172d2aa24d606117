import { isDeepStrictEqual } from "node:util";
import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EverstepError } from "../model/error.ts";
import type { EncodedValue } from "../model/value.ts";
import { checkBytes, decodeValue, encodedBytes, encodeSmall, encodeValue, jsonView } from "./codec.ts";

const what = 'step "charge" result';

function roundTrip(value: unknown): unknown {
  return decodeValue(encodeValue(value, what));
}

function failure(action: () => unknown): EverstepError {
  try {
    action();
  } catch (error) {
    if (error instanceof EverstepError) return error;
    throw error;
  }
  throw new Error("expected an EverstepError");
}

function parsed(json: string): unknown {
  return JSON.parse(json);
}

const sparse: unknown[] = [1];
sparse[3] = undefined;
sparse.length = 6;

function withProperties<Target extends object>(target: Target, properties: object): Target {
  return Object.assign(target, properties);
}

describe("plain JSON stays plain JSON", () => {
  const plain: [string, unknown][] = [
    ["null", null],
    ["true", true],
    ["false", false],
    ["an integer", 42],
    ["a fraction", -1.5e-7],
    ["a huge number", Number.MAX_VALUE],
    ["the smallest number", Number.MIN_VALUE],
    ["text", 'quote " backslash \\ newline \n NUL \0 emoji 🦆 line separator \u2028'],
    ["half a surrogate pair", "\ud83e"],
    ["empty text", ""],
    ["an empty object", {}],
    ["an empty array", []],
    ["a nested value", { order: { id: 7, lines: [{ sku: "a", qty: 1 }, null, []] }, ok: true }],
    ["integer-like keys", { 10: "ten", 9: "nine", b: 1, a: 2 }],
  ];

  test.each(plain)("%s is written as JSON.stringify writes it, without marks", (_name, value) => {
    expect(encodeValue(value, what)).toEqual({ json: JSON.stringify(value), marks: null });
    expect(roundTrip(value)).toStrictEqual(value);
  });

  test("the marks do not change how the JSON around them is written", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false } as object), (value) => {
        const rich = encodeValue([value, undefined], what);
        const json = encodeValue([value, null], what).json;
        expect(rich.json).toBe(json);
      }),
    );
  });

  test("common values share one encoding", () => {
    for (const value of [undefined, null, true, false]) {
      expect(encodeValue(value, "a")).toBe(encodeValue(value, "b"));
      expect(Object.isFrozen(encodeValue(value, "a"))).toBe(true);
    }
  });
});

describe("what JSON would lose comes back", () => {
  const when = new Date("2026-05-14T10:00:00.123Z");
  const rich: [string, unknown, string, string][] = [
    ["undefined", undefined, "null", '[[[],"undefined"]]'],
    ["an undefined property", { a: undefined, b: 1 }, '{"a":null,"b":1}', '[[["a"],"undefined"]]'],
    ["an undefined element", [undefined], "[null]", '[[[0],"undefined"]]'],
    [
      "holes, also at the end",
      sparse,
      "[1,null,null,null,null,null]",
      '[[[1],"hole"],[[2],"hole"],[[3],"undefined"],[[4],"hole"],[[5],"hole"]]',
    ],
    ["NaN", Number.NaN, "null", '[[[],"NaN"]]'],
    ["Infinity", [Number.POSITIVE_INFINITY], "[null]", '[[[0],"Infinity"]]'],
    ["-Infinity", { n: Number.NEGATIVE_INFINITY }, '{"n":null}', '[[["n"],"-Infinity"]]'],
    ["-0", -0, "null", '[[[],"-0"]]'],
    ["a bigint", 2n ** 70n, '"1180591620717411303424"', '[[[],"BigInt"]]'],
    ["a negative bigint", { n: -1n }, '{"n":"-1"}', '[[["n"],"BigInt"]]'],
    ["a Date", { at: when }, '{"at":"2026-05-14T10:00:00.123Z"}', '[[["at"],"Date"]]'],
    ["an invalid Date", new Date(Number.NaN), "null", '[[[],"Date"]]'],
    ["the first Date", new Date(-8.64e15), '"-271821-04-20T00:00:00.000Z"', '[[[],"Date"]]'],
    ["the last Date", new Date(8.64e15), '"+275760-09-13T00:00:00.000Z"', '[[[],"Date"]]'],
    ["a Map", new Map([["a", 1]]), '[["a",1]]', '[[[],"Map"]]'],
    ["a Set", { tags: new Set(["x", "y"]) }, '{"tags":["x","y"]}', '[[["tags"],"Set"]]'],
    [
      "rich keys and values of a Map",
      new Map<unknown, unknown>([[when, new Set([1n])]]),
      '[["2026-05-14T10:00:00.123Z",["1"]]]',
      '[[[0,0],"Date"],[[0,1,0],"BigInt"],[[0,1],"Set"],[[],"Map"]]',
    ],
    ["a RegExp", /a\/b[/]"c"/giu, '"/a\\\\/b[/]\\"c\\"/giu"', '[[[],"RegExp"]]'],
    // biome-ignore lint/complexity/useRegexLiterals: a literal cannot be empty
    ["an empty RegExp", new RegExp(""), '"/(?:)/"', '[[[],"RegExp"]]'],
    ["a URL", new URL("https://example.com/?q=ü#x"), '"https://example.com/?q=%C3%BC#x"', '[[[],"URL"]]'],
    ["an ArrayBuffer", new Uint8Array([0, 127, 255]).buffer, '"AH//"', '[[[],"ArrayBuffer"]]'],
    ["a Uint8Array", new Uint8Array([1, 2, 3, 4]), '"AQIDBA=="', '[[[],"Uint8Array"]]'],
    ["a Float64Array", new Float64Array([1.5]), '"AAAAAAAA+D8="', '[[[],"Float64Array"]]'],
    ["a BigInt64Array", new BigInt64Array([-1n]), '"//////////8="', '[[[],"BigInt64Array"]]'],
    ["an empty typed array", new Int16Array(0), '""', '[[[],"Int16Array"]]'],
    ["a DataView", new DataView(new ArrayBuffer(2)), '"AAA="', '[[[],"DataView"]]'],
    ["a boxed number", Object(5), "5", '[[[],"Boxed"]]'],
    ["a boxed NaN", Object(Number.NaN), "null", '[[[],"NaN"],[[],"Boxed"]]'],
    ["a boxed text", Object("x"), '"x"', '[[[],"Boxed"]]'],
    ["a boxed boolean", Object(false), "false", '[[[],"Boxed"]]'],
    ["a boxed bigint", Object(3n), '"3"', '[[[],"BigInt"],[[],"Boxed"]]'],
  ];

  test.each(rich)("%s", (_name, value, json, marks) => {
    const encoded = encodeValue(value, what);
    expect(encoded).toEqual({ json, marks });
    expect(decodeValue(encoded)).toStrictEqual(value);
    expect(isSame(decodeValue(encoded), value)).toBe(true);
    expect(jsonView(encoded)).toEqual(parsed(json));
  });

  test.each([
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
  ])("%o keeps its class and content", (TypedArray) => {
    const value = new TypedArray([1, 2, 250]);
    expect(roundTrip({ value })).toStrictEqual({ value });
  });

  test("bytes of every value and every length modulo three come back", () => {
    for (const length of [0, 1, 2, 3, 255, 256, 6 * 1024 - 1, 6 * 1024, 6 * 1024 + 1, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => index % 256);
      expect(Buffer.compare(roundTrip(bytes) as Uint8Array, bytes)).toBe(0);
    }
  });

  test("a small view of a large buffer stays small", () => {
    const view = new Uint8Array(new ArrayBuffer(64 * 1024 * 1024), 1000, 10);
    const encoded = encodeValue(view, what);
    expect(encodedBytes(encoded)).toBeLessThan(50);
    expect((decodeValue(encoded) as Uint8Array).buffer.byteLength).toBe(10);
  });

  test("a view that does not begin on its own boundary comes back", () => {
    const view = new DataView(new Uint8Array([9, 1, 2, 3, 9]).buffer, 1, 3);
    const back = roundTrip(view) as DataView;
    expect([back.byteLength, back.getUint8(0), back.getUint8(2)]).toEqual([3, 1, 3]);
  });

  test("the position of a RegExp is not kept, as structuredClone does not keep it", () => {
    const pattern = /a/g;
    pattern.lastIndex = 3;
    expect((roundTrip(pattern) as RegExp).lastIndex).toBe(0);
  });
});

describe("errors as values", () => {
  test.each([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])(
    "%o comes back as its class",
    (Class) => {
      const error = new Class("boom");
      const back = roundTrip({ error }) as { error: Error };
      expect(back.error).toBeInstanceOf(Class);
      expect(Object.getPrototypeOf(back.error)).toBe(Class.prototype);
      expect([back.error.name, back.error.message, back.error.stack]).toEqual([
        error.name,
        "boom",
        error.stack,
      ]);
      expect(Object.keys(back.error)).toEqual([]);
    },
  );

  test("cause, own properties and the errors of an AggregateError are kept", () => {
    const at = new Date(0);
    const cause = withProperties(new RangeError("inner"), { at, __proto__: null });
    const error = withProperties(new AggregateError([new TypeError("one"), "two"], "all"), { status: 502 });
    Object.defineProperty(error, "cause", { value: cause, enumerable: false });
    const back = roundTrip(error) as AggregateError & { status: number; cause: { at: Date } };
    expect(back).toBeInstanceOf(AggregateError);
    expect(back.errors[0]).toBeInstanceOf(TypeError);
    expect(back.errors[1]).toBe("two");
    expect(back.status).toBe(502);
    expect(back.cause).toBeInstanceOf(RangeError);
    expect(back.cause.at).toEqual(at);
    expect(Object.keys(back)).toEqual(["status"]);
  });

  test("a custom class becomes an Error that carries its name", () => {
    class HttpError extends Error {
      override name = "HttpError";
      status = 404;
    }
    const back = roundTrip(new HttpError("gone")) as HttpError;
    expect(back.constructor).toBe(Error);
    expect([back.name, back.message, back.status]).toEqual(["HttpError", "gone", 404]);
    expect(String(back)).toBe("HttpError: gone");
  });

  test("they read well as JSON", () => {
    const error = withProperties(new TypeError("bad"), { code: "E_BAD" });
    error.stack = "TypeError: bad\n    at somewhere";
    expect(jsonView(encodeValue(error, what))).toEqual({
      name: "TypeError",
      message: "bad",
      stack: "TypeError: bad\n    at somewhere",
      code: "E_BAD",
    });
  });

  test("names and messages that are not text, and stacks that are gone, do no harm", () => {
    const error = withProperties(new Error("x"), { name: 5, message: Symbol("m") });
    delete (error as { stack?: string }).stack;
    const back = roundTrip(error) as Error;
    expect([back.name, back.message]).toEqual(["Error", ""]);
    expect(encodeValue(back, what)).toEqual(encodeValue(error, what));
  });

  test("a DOMException becomes an Error of its name", () => {
    const back = roundTrip(new DOMException("stop", "AbortError")) as Error;
    expect([back.name, back.message]).toEqual(["AbortError", "stop"]);
  });

  test("a property called __proto__ stays a property", () => {
    const error = new Error("x");
    Object.defineProperty(error, "__proto__", { value: { polluted: true }, enumerable: true });
    const back = roundTrip(error) as Error & { polluted?: boolean };
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")?.value).toEqual({ polluted: true });
    expect(back.polluted).toBeUndefined();
    expect(back).toBeInstanceOf(Error);
  });
});

describe("as structuredClone would", () => {
  test("a Buffer becomes a Uint8Array", () => {
    const back = roundTrip(Buffer.from("hello")) as Uint8Array;
    expect(Object.getPrototypeOf(back)).toBe(Uint8Array.prototype);
    expect(new TextDecoder().decode(back)).toBe("hello");
  });

  test("subclasses of built-in containers become the built-in", () => {
    class Rows extends Array<number> {}
    class Registry extends Map<string, number> {}
    expect(roundTrip(Rows.of(1, 2))).toStrictEqual([1, 2]);
    expect(roundTrip(new Registry([["a", 1]]))).toStrictEqual(new Map([["a", 1]]));
  });

  test("symbol keys, hidden properties and names on arrays are left out", () => {
    const value = { a: 1, [Symbol("s")]: 2 };
    Object.defineProperty(value, "hidden", { value: () => {}, enumerable: false });
    expect(roundTrip(value)).toStrictEqual({ a: 1 });
    expect(roundTrip("abc".match(/b/))).toStrictEqual(["b"]);
  });

  test("an object without prototype becomes a plain one", () => {
    expect(roundTrip(Object.assign(Object.create(null), { a: 1 }))).toStrictEqual({ a: 1 });
  });

  test("a getter is read once and becomes its value", () => {
    let reads = 0;
    const value = {
      get at() {
        reads++;
        return new Date(reads);
      },
      get twice() {
        return undefined;
      },
    };
    expect(roundTrip(value)).toStrictEqual({ at: new Date(reads), twice: undefined });
  });

  test("values of another realm count as what they are", () => {
    const foreign = runInContext(
      `({ plain: { a: [1, { b: 2 }] }, date: new Date(5), map: new Map([[1, new Set([2])]]), bytes: new Uint8Array([7]),
          buffer: new ArrayBuffer(1), error: new TypeError("far"), pattern: /x/y, boxed: Object(1), none: undefined })`,
      createContext({}),
    );
    const back = roundTrip(foreign) as Record<string, unknown>;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    const { error, ...rest } = back;
    expect(rest).toStrictEqual({
      plain: { a: [1, { b: 2 }] },
      date: new Date(5),
      map: new Map([[1, new Set([2])]]),
      bytes: new Uint8Array([7]),
      buffer: new ArrayBuffer(1),
      pattern: /x/y,
      boxed: Object(1),
      none: undefined,
    });
    expect(error).toBeInstanceOf(TypeError);
  });

  test("a proxy is what it shows", () => {
    expect(roundTrip(new Proxy({ a: 1 }, {}))).toStrictEqual({ a: 1 });
    expect(roundTrip(new Proxy([1, undefined], {}))).toStrictEqual([1, undefined]);
  });
});

describe("toJSON is never called", () => {
  test("a Date whose toJSON was replaced is still a Date", () => {
    const date = withProperties(new Date(0), { toJSON: () => "replaced" });
    expect(roundTrip(date)).toEqual(new Date(0));
  });

  test("a hidden toJSON is not asked, a visible one is refused as the function it is", () => {
    const hidden = Object.defineProperty({ a: 1 }, "toJSON", { value: () => "replaced", enumerable: false });
    expect(roundTrip(hidden)).toStrictEqual({ a: 1 });
    expect(roundTrip(withProperties([1], { toJSON: () => "replaced" }))).toStrictEqual([1]);
    expect(failure(() => roundTrip({ toJSON: () => 1 })).details).toEqual({
      path: "toJSON",
      kind: "function",
    });
    expect(roundTrip({ toJSON: "data" })).toStrictEqual({ toJSON: "data" });
  });

  test("not even when somebody put one on every object", () => {
    const patched = [Object.prototype, Array.prototype, BigInt.prototype] as { toJSON?: unknown }[];
    for (const prototype of patched) {
      Object.defineProperty(prototype, "toJSON", { value: () => "replaced", configurable: true });
    }
    try {
      expect(roundTrip({ a: [1n, { b: new Date(0) }] })).toStrictEqual({ a: [1n, { b: new Date(0) }] });
    } finally {
      for (const prototype of patched) delete prototype.toJSON;
    }
  });
});

describe("what cannot be kept is refused with its place", () => {
  class Order {
    id = 1;
  }
  const circular: Record<string, unknown> = { a: { b: [] } };
  (circular as { a: { b: unknown[] } }).a.b.push(circular);
  const selfMap = new Map<string, unknown>();
  selfMap.set("self", selfMap);
  const circularError = new Error("round");
  circularError.cause = circularError;
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const spoofed = new (class Spoof {
    get [Symbol.toStringTag]() {
      return "Map";
    }
  })();

  const refused: [string, unknown, string, string, string][] = [
    ["a function", () => 1, "", "function", `${what} is a function; use plain data instead.`],
    ["a class", Order, "", "function", `${what} is a function`],
    [
      "a nested function",
      { items: [1, 2, { callback() {} }] },
      "items[2].callback",
      "function",
      `${what}.items[2].callback is a function`,
    ],
    ["a symbol", { s: Symbol("x") }, "s", "symbol", `${what}.s is a symbol`],
    ["a boxed symbol", [Object(Symbol("x"))], "[0]", "class instance", "instance of Symbol"],
    ["a class instance", { order: new Order() }, "order", "class instance", "is an instance of Order"],
    ["a Promise", { p: Promise.resolve(1) }, "p", "Promise", "is a Promise; await it first"],
    ["a WeakMap", new WeakMap(), "", "WeakMap", "is an instance of WeakMap"],
    ["a WeakSet", new WeakSet(), "", "WeakSet", "is an instance of WeakSet"],
    ["a WeakRef", new WeakRef({}), "", "WeakRef", "is an instance of WeakRef"],
    ["shared memory", new SharedArrayBuffer(1), "", "SharedArrayBuffer", "SharedArrayBuffer"],
    ["a generator", (function* () {})(), "", "class instance", "cannot be kept"],
    [
      "something that claims to be a Map",
      { spoofed },
      "spoofed",
      "class instance",
      "is an instance of Spoof",
    ],
    ["an object built on another", Object.create({ inherited: 1 }), "", "class instance", "cannot be kept"],
    ["a cycle", circular, "a.b[0]", "cycle", "refers back to a value that contains it"],
    ["a cycle through a Map", selfMap, "[0][1]", "cycle", "refers back"],
    ["a cycle through a cause", { e: circularError }, "e.cause", "cycle", "refers back"],
    ["a key with a dot", { "a.b": () => 1 }, '["a.b"]', "function", `${what}["a.b"] is a function`],
    ["an empty key", { "": { x: () => 1 } }, '[""].x', "function", `${what}[""].x is a function`],
    [
      "a getter that throws",
      {
        ok: 1,
        inner: {
          get bad() {
            throw new Error("no such luck");
          },
        },
      },
      "inner.bad",
      "unreadable",
      "cannot be read (no such luck)",
    ],
    ["a revoked proxy", [1, revoked], "[1]", "unreadable", "cannot be read"],
    [
      "a proxy that refuses to list its keys",
      {
        p: new Proxy(
          {},
          {
            ownKeys() {
              throw "keys are secret";
            },
          },
        ),
      },
      "p",
      "unreadable",
      "keys are secret",
    ],
    [
      "a function inside a Map key",
      new Map([[{ f: () => 1 }, 1]]),
      "[0][0].f",
      "function",
      "[0][0].f is a function",
    ],
  ];

  test.each(refused)("%s", (_name, value, path, kind, sentence) => {
    const error = failure(() => encodeValue(value, what));
    expect(error.code).toBe("VALUE_NOT_SERIALIZABLE");
    expect(error.details).toEqual({ path, kind });
    expect(error.message).toContain(sentence);
    expect(error.message.startsWith(what)).toBe(true);
  });

  test("a getter that throws only when it is read again is harmless", () => {
    let reads = 0;
    const value = {
      get n() {
        if (++reads === 2) throw new Error("second look");
        return reads;
      },
    };
    expect(roundTrip(value)).toStrictEqual({ n: 3 });
  });

  test("the place of a deep or long-named refusal stays readable", () => {
    const key = "k".repeat(100_000);
    const error = failure(() => encodeValue({ [key]: { [key]: { [key]: { f: () => 1 } } } }, what));
    expect(error.message.length).toBeLessThan(500);
    expect(error.message).toContain(".f is a function");
  });

  test("a value that is reachable twice is written twice", () => {
    const shared = { at: new Date(1) };
    const back = roundTrip({ a: shared, b: shared }) as { a: object; b: object };
    expect(back).toStrictEqual({ a: shared, b: shared });
    expect(back.a).not.toBe(back.b);
  });
});

describe("hostile sizes end in an answer (SEC-12)", () => {
  function nested(levels: number, leaf: unknown): unknown {
    let value = leaf;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
    return value;
  }

  test.each([
    ["plain", 1],
    ["rich", undefined],
  ])("1000 levels of %s data come back, one more is refused", (_name, leaf) => {
    expect(isDeepStrictEqual(roundTrip(nested(1000, leaf)), nested(1000, leaf))).toBe(true);
    const error = failure(() => encodeValue(nested(1001, leaf), what));
    expect([error.code, error.details?.kind]).toEqual(["VALUE_NOT_SERIALIZABLE", "depth"]);
  });

  test("a hundred thousand levels do not overflow the stack", () => {
    expect(failure(() => encodeValue(nested(100_000, 1), what)).details?.kind).toBe("depth");
  });

  /** The error of a value that was given up before its text outgrew the longest string. */
  function givenUp(value: unknown): EverstepError {
    const error = failure(() => encodeValue(value, what));
    expect([error.code, error.cause]).toEqual(["PAYLOAD_TOO_LARGE", undefined]);
    return error;
  }

  test.each<[string, (inner: unknown) => unknown, unknown]>([
    ["lists", (inner) => [inner, inner], 1],
    ["objects", (inner) => ({ a: inner, b: inner }), 1],
    ["objects that hold rich values", (inner) => ({ a: inner, b: inner }), -0],
    ["maps", (inner) => new Map([[inner, inner]]), 1],
  ])("a few %s that describe billions of values are given up", (_name, wrap, leaf) => {
    let value = leaf;
    for (let level = 0; level < 60; level++) value = wrap(value);
    expect(givenUp(value).message).toContain(`${what} is far too large to keep.`);
  });

  test("a list that is almost only holes is given up", () => {
    givenUp(new Array(4_000_000_000));
    givenUp([undefined, new Array(4_000_000_000)]);
    expect(encodeSmall(new Array(4_000_000_000), 4096)).toBeUndefined();
  });

  test("one text that is too long is given up before it is written", () => {
    givenUp("x".repeat(200_000_000));
    expect(roundTrip("é".repeat(2_000_000))).toBe("é".repeat(2_000_000));
  });

  test("more bytes than text can hold are given up before they are read", () => {
    givenUp({ bytes: new ArrayBuffer(400_000_000) });
  });

  test("many marks under long paths are given up before they fill the memory", () => {
    const values: unknown[] = JSON.parse(`[${"-0,".repeat(200_000)}-0]`);
    givenUp(nested(900, values));
  });

  test.each([
    ["text", "x".repeat(1_000_000)],
    ["a key", { ["x".repeat(1_000_000)]: undefined }],
  ])("%s that is reachable a thousand times is given up before it is written", (_name, long) => {
    givenUp(new Array(1000).fill(long));
    givenUp([undefined, ...new Array(1000).fill(long)]);
  });
});

describe("keys are data (SEC-18)", () => {
  const keys = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    "a.b",
    "0",
    "-1",
    "\0",
    "🦆",
  ];

  test.each(keys)("%j holds plain and rich values at every depth", (key) => {
    for (const leaf of [1, undefined, new Date(0), new Map([[key, { polluted: true }]])]) {
      const inner = Object.fromEntries([[key, leaf]]);
      const value = { a: [Object.fromEntries([[key, inner]])] };
      const back = roundTrip(value);
      expect(isDeepStrictEqual(back, value)).toBe(true);
      expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("a key that looks like a mark is only a key", () => {
    const value = { marks: [[["at"], "Date"]], at: "2026-01-01T00:00:00.000Z", $date: 1, "~": [] };
    expect(encodeValue(value, what).marks).toBeNull();
    expect(roundTrip(value)).toStrictEqual(value);
  });
});

describe("what was stored is not trusted (SEC-19)", () => {
  const damaged: [string, EncodedValue][] = [
    ["json that is not JSON", { json: "{", marks: null }],
    ["empty text", { json: "", marks: null }],
    ["marks that are not JSON", { json: "1", marks: "[" }],
    ["marks that are not a list", { json: "1", marks: "{}" }],
    ["a mark that is not a pair", { json: "1", marks: "[1]" }],
    ["a mark without a tag", { json: "1", marks: "[[[]]]" }],
    ["a mark with too much", { json: "null", marks: '[[[],"NaN",1]]' }],
    ["a path that is not a list", { json: '{"a":null}', marks: '[["a","NaN"]]' }],
    ["a tag that is not text", { json: "null", marks: "[[[],1]]" }],
    ["an unknown tag", { json: "null", marks: '[[[],"Temporal.Instant"]]' }],
    ["a tag named after a property of every object", { json: "null", marks: '[[[],"constructor"]]' }],
    ["a very long tag", { json: "null", marks: JSON.stringify([[[], "x".repeat(100_000)]]) }],
    ["a missing key", { json: "{}", marks: '[[["a"],"NaN"]]' }],
    ["a missing index", { json: "[null]", marks: '[[[1],"NaN"]]' }],
    ["a negative index", { json: "[null]", marks: '[[[-1],"NaN"]]' }],
    ["an index given as text", { json: "[null]", marks: '[[["0"],"NaN"]]' }],
    ["the length of a list", { json: "[null]", marks: '[[["length"],"NaN"]]' }],
    ["a key given as number", { json: '{"0":null}', marks: '[[[0],"NaN"]]' }],
    ["a path through text", { json: '"abc"', marks: '[[[0],"NaN"]]' }],
    ["a path through null", { json: "null", marks: '[[["a"],"NaN"]]' }],
    ["a path to the prototype", { json: "{}", marks: '[[["__proto__"],"undefined"]]' }],
    ["a path through the prototype", { json: "{}", marks: '[[["__proto__","toString"],"undefined"]]' }],
    ["a path through the constructor", { json: "{}", marks: '[[["constructor","prototype"],"undefined"]]' }],
    ["a path into a revived Map", { json: "[]", marks: '[[[],"Map"],[["size"],"undefined"]]' }],
    ["a path into revived bytes", { json: '"AAAA"', marks: '[[[],"Uint8Array"],[[0],"undefined"]]' }],
    [
      "a path into a revived Error",
      { json: '{"name":"E","message":"5"}', marks: '[[[],"Error"],[["message"],"BigInt"]]' },
    ],
    ["a boxed constructor", { json: "{}", marks: '[[["constructor"],"Boxed"]]' }],
    ["a hole in an object", { json: '{"a":null}', marks: '[[["a"],"hole"]]' }],
    ["a hole at the top", { json: "null", marks: '[[[],"hole"]]' }],
    ["undefined that holds something", { json: "1", marks: '[[[],"undefined"]]' }],
    ["NaN that holds something", { json: "1", marks: '[[[],"NaN"]]' }],
    ["a bigint of letters", { json: '"1n"', marks: '[[[],"BigInt"]]' }],
    ["a bigint in hexadecimal", { json: '"0x10"', marks: '[[[],"BigInt"]]' }],
    ["a Date that is none", { json: '"yesterday"', marks: '[[[],"Date"]]' }],
    ["a Date from a number", { json: "5", marks: '[[[],"Date"]]' }],
    ["a Map from an object", { json: "{}", marks: '[[[],"Map"]]' }],
    ["a Map of triples", { json: "[[1,2,3]]", marks: '[[[],"Map"]]' }],
    ["a Set from text", { json: '"abc"', marks: '[[[],"Set"]]' }],
    ["a RegExp without slashes", { json: '"abc"', marks: '[[[],"RegExp"]]' }],
    ["a RegExp with one slash", { json: '"/"', marks: '[[[],"RegExp"]]' }],
    ["a RegExp with unknown flags", { json: '"/a/qq"', marks: '[[[],"RegExp"]]' }],
    ["a broken RegExp", { json: '"/(/"', marks: '[[[],"RegExp"]]' }],
    ["a broken URL", { json: '"not a url"', marks: '[[[],"URL"]]' }],
    ["broken base64", { json: '"@@@"', marks: '[[[],"Uint8Array"]]' }],
    ["bytes that do not fill a Float64Array", { json: '"AAAA"', marks: '[[[],"Float64Array"]]' }],
    ["a boxed object", { json: "{}", marks: '[[[],"Boxed"]]' }],
    ["a boxed null", { json: "null", marks: '[[[],"Boxed"]]' }],
    ["an Error from a list", { json: "[]", marks: '[[[],"Error"]]' }],
    ["an Error without a message", { json: '{"name":"E"}', marks: '[[[],"Error"]]' }],
    [
      "an Error with a stack that is not text",
      { json: '{"name":"E","message":"m","stack":1}', marks: '[[[],"Error"]]' },
    ],
  ];

  test.each(damaged)("%s is HISTORY_UNREADABLE", (_name, encoded) => {
    const error = failure(() => decodeValue(encoded));
    expect(error.code).toBe("HISTORY_UNREADABLE");
    expect(error.message.length).toBeLessThan(400);
    expect(Object.getPrototypeOf({}).toString).toBeTypeOf("function");
  });

  test("stored keys cannot reach a prototype", () => {
    const json =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"at":"2026-01-01T00:00:00.000Z"}';
    const back = decodeValue({ json, marks: '[[["at"],"Date"]]' }) as Record<string, unknown>;
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.keys(back)).toEqual(["__proto__", "constructor", "at"]);
  });

  test("a marked value under __proto__ replaces the value, not the prototype", () => {
    const json = '{"__proto__":[["polluted",true]]}';
    const back = decodeValue({ json, marks: '[[["__proto__"],"Map"]]' }) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")?.value).toEqual(new Map([["polluted", true]]));
  });

  test("random text is either a value or a typed error", () => {
    fc.assert(
      fc.property(fc.json(), fc.oneof(fc.json(), fc.string()), (json, marks) => {
        try {
          decodeValue({ json, marks });
        } catch (error) {
          expect((error as EverstepError).code).toBe("HISTORY_UNREADABLE");
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("bytes", () => {
  test("are counted as UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (first, second) => {
        for (const json of [first, second, JSON.stringify(first), first + second]) {
          expect(encodedBytes({ json, marks: null })).toBe(new TextEncoder().encode(json).length);
        }
      }),
    );
  });

  test.each(["\ud83e", "\ud83e€", "a\ud83e", "\udd86x", "\ud83e\ud83e\udd86", "\udd86\ud83e"])(
    "%j is counted as it is stored",
    (json) => {
      expect(encodedBytes({ json, marks: null })).toBe(new TextEncoder().encode(json).length);
    },
  );

  test("include the marks", () => {
    expect(encodedBytes({ json: "null", marks: '[[["é"],"NaN"]]' })).toBe(4 + 16);
  });

  test.each(["x", "é", "€", "🦆"])(
    "a text of %s may fill the limit to the last byte and no further",
    (character) => {
      const encoded = encodeValue(character.repeat(1000), what);
      const bytes = encodedBytes(encoded);
      for (const max of [bytes, bytes + 1]) expect(() => checkBytes(encoded, max, what)).not.toThrow();
      const error = failure(() => checkBytes(encoded, bytes - 1, what));
      expect(error.code).toBe("PAYLOAD_TOO_LARGE");
      expect(error.details).toEqual({ bytes, maxBytes: bytes - 1 });
      expect(error.message).toBe(
        `${what} takes ${bytes} bytes, and at most ${bytes - 1} are allowed. ` +
          "Keep large data elsewhere (a file, an object store, a table) and pass a reference to it.",
      );
    },
  );
});

describe("encodeSmall", () => {
  test("keeps what fits", () => {
    expect(encodeSmall({ at: new Date(0) }, 4096)).toEqual(encodeValue({ at: new Date(0) }, what));
    expect(encodeSmall("x".repeat(98), 100)?.json.length).toBe(100);
  });

  test.each([
    ["too long", "x".repeat(101)],
    ["too many bytes", "€".repeat(40)],
    ["a long key", { ["k".repeat(101)]: 1 }],
    ["too many values", new Array(1000).fill(1)],
    ["too many bytes of another kind", new Uint8Array(1000)],
    ["a function", () => 1],
    ["a cycle", withProperties([] as unknown[], {})],
  ])("answers undefined for %s", (_name, value) => {
    if (Array.isArray(value) && value.length === 0) value.push(value);
    expect(encodeSmall(value, 100)).toBeUndefined();
  });
});

describe("for any value", () => {
  const key = fc.oneof(
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.constantFrom("__proto__", "constructor", "toJSON", "", "a.b", "0", "length", "name", "then"),
  );
  const { any } = fc.letrec<{ any: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, undefined, Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      fc.bigInt(),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array(),
      fc.float64Array(),
      fc.int16Array(),
      fc.constantFrom(/a/g, /[/]\/\n/u, new URL("https://a.example/b?c#d")),
      fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.bigInt()).map((value) => Object(value)),
    ),
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("leaf"),
      fc.array(tie("any"), { maxLength: 5 }),
      fc.sparseArray(tie("any"), { maxLength: 6 }),
      fc.array(fc.tuple(key, tie("any")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
      fc.array(fc.tuple(tie("any"), tie("any")), { maxLength: 4 }).map((entries) => new Map(entries)),
      fc.array(tie("any"), { maxLength: 4 }).map((elements) => new Set(elements)),
    ),
  }));

  test("what comes back deep-equals what went in, and encoding it again gives the same text", () => {
    fc.assert(
      fc.property(any, (value) => {
        const encoded = encodeValue(value, what);
        const back = decodeValue(encoded);
        expect(isDeepStrictEqual(back, value)).toBe(true);
        expect(encodeValue(back, what)).toEqual(encoded);
        expect(() => JSON.parse(encoded.json)).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });

  test("what comes back shares nothing with what went in", () => {
    const value = { list: [{ n: 1 }], bytes: new Uint8Array(3), map: new Map([["a", { n: 1 }]]) };
    const back = roundTrip(value) as typeof value;
    value.list[0]!.n = 2;
    value.bytes[0] = 9;
    value.map.get("a")!.n = 2;
    expect(back).toEqual({ list: [{ n: 1 }], bytes: new Uint8Array(3), map: new Map([["a", { n: 1 }]]) });
  });

  test("errors with any properties come back", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.tuple(key, any), { maxLength: 4 }), (message, entries) => {
        const error = new RangeError(message);
        for (const [name, value] of entries) {
          if (!["message", "stack", "name", "cause"].includes(name)) {
            Object.defineProperty(error, name, { value, enumerable: true, configurable: true });
          }
        }
        const encoded = encodeValue({ error }, what);
        expect(encodeValue(decodeValue(encoded), what)).toEqual(encoded);
        expect((decodeValue(encoded) as { error: Error }).error.message).toBe(message);
      }),
    );
  });
});

/** Node 22 does not take two invalid dates for equal. */
function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Date && other instanceof Date) return Object.is(one.getTime(), other.getTime());
  return isDeepStrictEqual(one, other);
}
