import { expect, test } from "vitest";
import { everyWay } from "./merge-orders.ts";

/** All ways to merge two sequences, each kept in order. */
async function merges(one: string, other: string): Promise<readonly string[]> {
  const found: string[] = [];
  const ways = await everyWay(async (choose) => {
    const left = [[...one], [...other]];
    let merged = "";
    while (left.some((rest) => rest.length > 0)) {
      const open = left.filter((rest) => rest.length > 0);
      merged += open[open.length === 1 ? 0 : choose(open.length)]?.shift();
    }
    found.push(merged);
    return true;
  });
  expect(ways).toBe(found.length);
  return found;
}

test("every merge of two sequences comes up once", async () => {
  expect(await merges("ab", "1")).toEqual(["ab1", "a1b", "1ab"]);
  const found = await merges("abc", "123");
  expect(found).toHaveLength(20);
  expect(new Set(found).size).toBe(20);
});

test("it ends as soon as it is told to", async () => {
  let runs = 0;
  const ways = await everyWay(async (choose) => {
    runs++;
    return choose(10) < 3;
  });
  expect([ways, runs]).toEqual([4, 4]);
});

test("more ways than anybody has time for are an error", async () => {
  const run = async (choose: (count: number) => number): Promise<boolean> => choose(100) >= 0;
  await expect(everyWay(run, 10)).rejects.toThrow("more than 10 ways");
});
