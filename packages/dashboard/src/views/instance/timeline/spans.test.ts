import { expect, test } from "vitest";
import { subtract, totalOf, union, within } from "./spans.ts";

const span = (from: number, to: number) => ({ from, to });

test("time that several stretches share counts once", () => {
  const joined = union([span(5, 9), span(0, 3), span(2, 4), span(4, 5), span(20, 20)]);
  expect(joined).toEqual([span(0, 9)]);
  expect(totalOf(joined)).toBe(9);
});

test("what is taken away leaves the rest, before, between and after", () => {
  expect(subtract([span(0, 10), span(20, 30)], [span(2, 4), span(6, 22), span(29, 40)])).toEqual([
    span(0, 2),
    span(4, 6),
    span(22, 29),
  ]);
  expect(subtract([span(0, 10)], [])).toEqual([span(0, 10)]);
  expect(subtract([span(0, 10)], [span(0, 10)])).toEqual([]);
});

test("only what is within is kept", () => {
  expect(within([span(0, 4), span(5, 9), span(9, 12)], span(2, 7))).toEqual([span(2, 4), span(5, 7)]);
});
