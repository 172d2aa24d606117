import { describe, expect, test } from "vitest";
import { encodeValue } from "../../authoring/codec.ts";
import { sameValue } from "./same-outcome.ts";

const encoded = (value: unknown) => encodeValue(value, "value");
const failing = (message: string): Error => new RangeError(message);

describe("two values are the same", () => {
  test.each<[string, unknown, unknown, boolean]>([
    ["numbers", 1, 1, true],
    ["0 and -0", 0, -0, false],
    ["null and undefined", null, undefined, false],
    ["text and a date", "2026-01-01T00:00:00.000Z", new Date(Date.UTC(2026, 0)), false],
    ["a list and an object of its entries", [["a", 1]], { a: 1 }, false],
    ["keys in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
    ["rich keys in another order", { a: 1n, b: undefined }, { b: undefined, a: 1n }, true],
    ["items in another order", [1, 2], [2, 1], false],
    [
      "entries of maps in another order",
      new Map([
        [1, 2],
        [3, 4],
      ]),
      new Map([
        [3, 4],
        [1, 2],
      ]),
      false,
    ],
    ["bigints", { n: 1n }, { n: 2n }, false],
  ])("%s", (_what, one, other, same) => {
    expect(sameValue(encoded(one), encoded(other))).toBe(same);
  });

  test("errors that were made in different places", () => {
    const one = encoded({ errors: [failing("x")] });
    const other = encoded({ errors: [new RangeError("x")] });
    expect(one).not.toEqual(other);
    expect(sameValue(one, other)).toBe(true);
    expect(sameValue(one, encoded({ errors: [failing("y")] }))).toBe(false);
  });
});
