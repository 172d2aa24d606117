import { expect, test } from "vitest";
import { findMatches, matchMax } from "./match-all.ts";
import { pageOf } from "./sample-rows.ts";

const signal = new AbortController().signal;

test("all that match are found, page by page, even behind an empty page", async () => {
  const pages = [pageOf(["a", "b"], "1"), pageOf([], "2"), pageOf(["c"])];
  const told: number[] = [];
  const source = {
    list: async ({ cursor = "0" }: { cursor?: string | undefined }) => pages[Number(cursor)]!,
  };
  const { found, isMore } = await findMatches(source, signal, (count) => told.push(count));
  expect(found.map(({ key }) => key)).toEqual(["order a", "order b", "order c"]);
  expect([isMore, told]).toEqual([false, [2, 2, 3]]);
});

test("more than one person can answer for are not taken", async () => {
  let calls = 0;
  const ids = (call: number) => Array.from({ length: 100 }, (_, n) => `${call}-${n}`);
  const source = { list: async () => pageOf(ids(calls++), "more") };
  const { found, isMore } = await findMatches(source, signal, () => {});
  expect([found.length, isMore, calls]).toEqual([matchMax, true, 100]);
});
