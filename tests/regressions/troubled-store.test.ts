/** A store in trouble is not asked more than a healthy one. Time is the test's, so no real store is needed. */
import { defineWorkflow } from "everstep";
import { createTestHarness, storeFailure } from "everstep/testing";
import { afterEach, describe, expect, test } from "vitest";
import { seeded } from "./seeded.ts";

const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
  for (const name of ["a", "b", "c"]) await step.do(name, async () => name);
});

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const story of open.splice(0)) await story.stop();
});

/** A runner whose every call to the store takes some time, and another process that creates five instances a second. */
async function steadyWork() {
  const story = createTestHarness({ workflows: { W: workflow }, onProblem: () => {} });
  open.push(story);
  const loop = story.runner("loop");
  const random = seeded(61);
  const store = { latencyMs: 10, failing: 0, calls: 0 };
  loop.faults.plan((call) => {
    if (call.method === "close") return null;
    store.calls++;
    return async (apply) => {
      await story.clock.sleep(store.latencyMs);
      const answer = await apply();
      if (random() < store.failing) throw storeFailure("ambiguous");
      return answer;
    };
  });
  await story.workflows.W.create({ id: "first" });
  const starting = loop.app.start();
  await story.clock.advance("1 second");
  await starting;
  const callsDuring = async (seconds: number): Promise<number> => {
    const before = store.calls;
    for (let n = 0; n < seconds * 5; n++) {
      await story.workflows.W.create();
      await story.clock.advance(200);
    }
    return store.calls - before;
  };
  return { story, store, callsDuring };
}

describe("R-061 a store that takes twenty times as long", () => {
  test.each([
    ["and answers", 0],
    ["and whose answers get lost half of the time", 0.5],
  ])("%s is asked hardly more often, and all is well half a minute after", async (_title, failing) => {
    const { story, store, callsDuring } = await steadyWork();
    const usual = await callsDuring(60);
    Object.assign(store, { latencyMs: 200, failing });
    const troubled = await callsDuring(60);
    expect(troubled).toBeLessThanOrEqual(1.5 * usual);
    Object.assign(store, { latencyMs: 10, failing: 0 });
    await story.clock.advance("30 seconds");
    expect(await story.app.counts()).toMatchObject({ active: 0, waiting: 0, complete: 601 });
    const after = await callsDuring(60);
    expect(after).toBeLessThanOrEqual(1.2 * usual);
  });
});

describe("R-062 a store that has nothing left to give", () => {
  test("is asked ever less often; its first answer makes everything as it was", async () => {
    const story = createTestHarness({ workflows: { W: workflow }, onProblem: () => {} });
    open.push(story);
    const loop = story.runner("loop");
    const askedAt: number[] = [];
    loop.faults.plan((call) => {
      if (call.method === "claim") askedAt.push(story.runtime.now());
      return null;
    });
    await loop.start();
    const gapsDuring = async (duration: string): Promise<number[]> => {
      const start = askedAt.length;
      const exhausted = loop.faults.fail("claim", "unavailable", { times: 1000 });
      await loop.workflows.W.create();
      await story.clock.advance(duration);
      exhausted.remove();
      await story.clock.advance("1 minute");
      return askedAt.slice(start).map((at, n, all) => at - (n === 0 ? at : all[n - 1]!));
    };
    for (let outage = 0; outage < 2; outage++) {
      const gaps = await gapsDuring("10 minutes");
      // From a second to sixteen, with jitter; the second outage begins where the first did.
      expect(gaps[1]).toBeLessThanOrEqual(1000);
      expect(gaps[3]).toBeLessThanOrEqual(4000);
      expect(Math.max(...gaps.slice(8, 20))).toBeGreaterThan(7000);
      expect(Math.max(...gaps.slice(8, 20))).toBeLessThanOrEqual(16_000);
      expect(gaps.length).toBeLessThan(120);
    }
    expect(await story.app.counts()).toMatchObject({ active: 0, complete: 2 });
  });
});
