import type { WireLogLine } from "everstep/client";
import { expect, test } from "vitest";
import { mergeLines, newest } from "./log-lines.ts";

const lines = (...ids: string[]): WireLogLine[] => ids.map((id) => ({ id }) as WireLogLine);
const merged = (known: readonly WireLogLine[], more: readonly WireLogLine[]) =>
  mergeLines(known, more).map(({ id }) => id);

test("lines that follow are added at the end", () => {
  expect(merged(lines("1-1", "1-2"), lines("1-10", "2-1"))).toEqual(["1-1", "1-2", "1-10", "2-1"]);
});

test("a page of earlier lines, newest first, takes its place before those that are known", () => {
  expect(merged(lines("1-9", "1-10"), lines("1-8", "1-7"))).toEqual(["1-7", "1-8", "1-9", "1-10"]);
});

test("a line that comes twice is there once", () => {
  expect(merged(lines("1-1", "1-2"), lines("1-1", "1-2", "1-3"))).toEqual(["1-1", "1-2", "1-3"]);
});

test("of very many the newest are shown, and the rest is counted", () => {
  expect(newest([1, 2, 3, 4], 3)).toEqual({ shown: [2, 3, 4], left: 1 });
  expect(newest([1], 3)).toEqual({ shown: [1], left: 0 });
});
