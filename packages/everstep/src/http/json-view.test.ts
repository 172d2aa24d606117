import { describe, expect, test } from "vitest";
import { jsonView } from "./json-view.ts";

const loop: Record<string, unknown> = { name: "loop" };
loop.self = loop;
const shared = { a: 1 };

describe("what JSON cannot say is shown as what it can", () => {
  test.each<readonly [string, unknown, unknown]>([
    ["nothing", undefined, null],
    ["null", null, null],
    ["a number that is none", Number.NaN, "NaN"],
    ["a number without end", Number.NEGATIVE_INFINITY, "-Infinity"],
    ["a big number", 2n ** 70n, "1180591620717411303424"],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a date that is none", new Date(Number.NaN), "Invalid Date"],
    ["a map", new Map([["a", new Date(0)]]), [["a", "1970-01-01T00:00:00.000Z"]]],
    ["a set", new Set([1n]), ["1"]],
    ["bytes", new Uint8Array([1, 2, 255]), "AQL/"],
    ["a buffer", new Uint8Array([1, 2]).buffer, "AQI="],
    ["a view", new DataView(new Uint8Array([9, 1, 2]).buffer, 1), "AQI="],
    ["other numbers", new Float64Array([1.5, Number.NaN]), [1.5, "NaN"]],
    ["big numbers in a row", new BigInt64Array([7n]), ["7"]],
    ["a pattern", /a+/gi, "/a+/gi"],
    ["an address", new URL("https://a.example/x"), "https://a.example/x"],
    ["an error", new TypeError("no", { cause: "why" }), { name: "TypeError", message: "no", cause: "why" }],
    ["what contains itself", loop, { name: "loop", self: "[circular]" }],
    ["what is there twice", [shared, shared], [{ a: 1 }, { a: 1 }]],
    ["gaps", Object.assign([1], { length: 2 }), [1, null]],
    ["fields that are nothing", { a: undefined, b: null }, { b: null }],
    ["plain data", { a: [1, "x", true, { b: null }] }, { a: [1, "x", true, { b: null }] }],
  ])("%s", (_what, value, expected) => {
    expect(jsonView(value)).toEqual(expected);
    expect(() => JSON.stringify(jsonView(value))).not.toThrow();
  });

  test("a field named __proto__ stays a field", () => {
    const text = '{"__proto__":{"a":1}}';
    expect(JSON.stringify(jsonView(JSON.parse(text)))).toBe(text);
  });

  test("an error with facts of its own keeps them, and its name is not theirs to change", () => {
    const error = Object.assign(new Error("no"), { code: "E_NO", at: new Date(0) });
    expect(jsonView(error)).toEqual({
      name: "Error",
      message: "no",
      code: "E_NO",
      at: "1970-01-01T00:00:00.000Z",
    });
  });
});
