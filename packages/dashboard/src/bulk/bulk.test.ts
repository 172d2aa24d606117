import { EverstepError } from "everstep/client";
import { expect, test } from "vitest";
import { type BulkProgress, handledOf, runBulk } from "./bulk.ts";

const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ workflowName: "order", instanceId: `${n}` }));
const goOn = new AbortController().signal;

test("everything is done, at most so many at once", async () => {
  let now = 0;
  let most = 0;
  const seen: string[] = [];
  const act = async ({ instanceId }: { readonly instanceId: string }) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    seen.push(instanceId);
    now--;
  };
  const end = await runBulk({ items: items(50), act, atOnce: 8, stop: goOn, onProgress: () => {} });
  expect([end.done, end.state, most, new Set(seen).size]).toEqual([50, "finished", 8, 50]);
});

test("refusals are grouped by their code, and hold nothing up", async () => {
  const act = async ({ instanceId }: { readonly instanceId: string }) => {
    if (Number(instanceId) % 3 === 0)
      throw new EverstepError("INSTANCE_TERMINAL", `${instanceId} has ended.`);
    if (instanceId === "4") throw new TypeError("odd");
  };
  const end = await runBulk({ items: items(10), act, atOnce: 3, stop: goOn, onProgress: () => {} });
  expect(end.done).toBe(5);
  const [terminal, odd] = end.refused.toSorted((a, b) => b.instances.length - a.instances.length);
  expect(terminal?.code).toBe("INSTANCE_TERMINAL");
  expect(terminal?.message).toBe("0 has ended.");
  expect(terminal?.instances.map(({ instanceId }) => instanceId).toSorted()).toEqual(["0", "3", "6", "9"]);
  expect([odd?.code, odd?.instances.length]).toEqual(["UNEXPECTED", 1]);
});

test("once stopped nothing more begins, and what was under way is counted", async () => {
  const stop = new AbortController();
  const told: BulkProgress[] = [];
  const act = async () => {
    if (told.length > 3) stop.abort();
  };
  const onProgress = (progress: BulkProgress) => told.push(progress);
  const end = await runBulk({ items: items(100), act, atOnce: 2, stop: stop.signal, onProgress });
  expect(end.state).toBe("stopped");
  expect(handledOf(end)).toBeGreaterThan(0);
  expect(handledOf(end)).toBeLessThan(10);
});

test("nothing to do is finished at once", async () => {
  const end = await runBulk({
    items: [],
    act: async () => {},
    atOnce: 8,
    stop: goOn,
    onProgress: () => {},
  });
  expect(end).toEqual({ total: 0, done: 0, refused: [], state: "finished" });
});
