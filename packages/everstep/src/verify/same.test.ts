import { expect, test } from "vitest";
import { same } from "./same.ts";

test.each([
  [1, 1, true],
  [1, 2, false],
  [Number.NaN, Number.NaN, true],
  [null, undefined, false],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, false],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [[1], { 0: 1 }, false],
  [[1, 2], [1], false],
])("%j and %j: %j", (a, b, answer) => {
  expect(same(a, b)).toBe(answer);
});
