import { expect, test } from "vitest";
import { page, position, readPosition } from "./position.ts";

test("a position comes back as the key it was made of", () => {
  expect(readPosition(position(1_750_000_000_000, 7), 2)).toEqual([1_750_000_000_000, 7]);
  expect(readPosition(position(-5), 1)).toEqual([-5]);
});

test.each([
  ["", 1],
  ["1.2", 1],
  ["1", 2],
  ["nonsense", 1],
  ["1e3", 1],
  [" 1", 1],
  ["99999999999999999", 1],
])("%j is no position", (text, parts) => {
  expect(() => readPosition(text, parts)).toThrow(expect.objectContaining({ code: "INVALID_CURSOR" }));
});

test("a page has a place to go on from only when there is more", () => {
  const cut = (rows: readonly number[]) => page(rows, 2, (row) => `item ${row}`, String);
  expect(cut([1, 2, 3])).toEqual({ items: ["item 1", "item 2"], after: "2" });
  expect(cut([1, 2])).toEqual({ items: ["item 1", "item 2"] });
  expect(cut([])).toEqual({ items: [] });
});
