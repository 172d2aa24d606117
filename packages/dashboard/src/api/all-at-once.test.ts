import { expect, test } from "vitest";
import { doToAll, type Outcome } from "./all-at-once.ts";

const ten = Array.from({ length: 10 }, (_, at) => at);

test("at most eight things are under way at once", async () => {
  let now = 0;
  let most = 0;
  const act = async (): Promise<void> => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now--;
  };
  await doToAll(ten, act, () => {}, new AbortController().signal);
  expect(most).toBe(8);
});

test("what fails is told with its problem, and the others go on", async () => {
  const outcomes: Outcome<number>[] = [];
  const act = async (item: number): Promise<void> => {
    if (item === 3) throw new Error("It is over.");
  };
  await doToAll(ten, act, (outcome) => outcomes.push(outcome), new AbortController().signal);
  expect(outcomes).toHaveLength(10);
  expect(
    outcomes.filter(({ problem }) => problem).map(({ item, problem }) => [item, problem?.message]),
  ).toEqual([[3, "It is over."]]);
});

test("after a stop nothing more is begun", async () => {
  const stopping = new AbortController();
  const outcomes: Outcome<number>[] = [];
  const act = async (): Promise<void> => stopping.abort();
  await doToAll(ten, act, (outcome) => outcomes.push(outcome), stopping.signal);
  expect(outcomes.length).toBeLessThan(10);
});
