import { expect, test } from "vitest";
import { between, isWhole, moved, wholeRange, zoomed } from "./view-range.ts";

test("what is under the pointer stays there when one looks closer", () => {
  const range = zoomed(wholeRange, 0.5, 0.3, 0.001);
  expect((0.3 - range.begin) / (range.end - range.begin)).toBeCloseTo(0.3);
  expect(range.end - range.begin).toBeCloseTo(0.5);
});

test("nobody looks beyond the ends, or closer than makes sense", () => {
  expect(zoomed({ begin: 0, end: 0.5 }, 4, 0.1, 0.001)).toEqual(wholeRange);
  const closest = zoomed({ begin: 0.4, end: 0.5 }, 0.001, 0.45, 0.02);
  expect(closest.end - closest.begin).toBeCloseTo(0.02);
  expect(moved({ begin: 0.7, end: 0.9 }, 5).end).toBe(1);
  expect(moved({ begin: 0.1, end: 0.3 }, -5).begin).toBe(0);
});

test("a range can be chosen from either side", () => {
  expect(between(0.8, 0.2, 0.01)).toEqual({ begin: 0.2, end: 0.8 });
  expect(isWhole(between(0, 1, 0.01))).toBe(true);
});
