import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { Store } from "../store/store.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import type { ActivityBucket } from "../wire/index.ts";
import { createWorkflows } from "./create-workflows.ts";

const fine = defineWorkflow({ name: "fine" }, async (_, step) => {
  await step.do("one", async () => 1);
  await step.do("two", async () => 2);
});
const broken = defineWorkflow({ name: "broken" }, async (_, step) => {
  await step.do("fail", { retries: { limit: 1, delay: 1000 } }, async () => {
    throw new Error("no");
  });
});

const minute = 60_000;

function begin(around: (store: Store) => Store = (store) => store) {
  const runtime = createFakeRuntime({ now: new Date("2026-01-01T12:00:30Z") });
  const app = createWorkflows({
    workflows: { fine, broken },
    store: around(memory()),
    runtime,
    hooks: { onEnded: async () => {} },
    onNotice: () => {},
  });
  return { runtime, app };
}

/** Those in which something was done, without what is 0. */
function busy(buckets: readonly ActivityBucket[]): unknown[] {
  const shown = buckets.map(({ at, ...counts }) => ({
    at: at.toISOString().slice(11, 16),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
  }));
  return shown.filter((bucket) => Object.keys(bucket).length > 1);
}

test("what was done is found in its minute, of all workflows or of one, without the engine's own", async () => {
  const { runtime, app } = begin();
  await app.start();
  await app.workflows.fine.create();
  await runtime.advance("1 minute");
  await app.workflows.fine.create();
  await app.workflows.broken.create();
  await runtime.advance("1 minute");
  await runtime.advance("30 seconds");
  const { buckets, ...span } = await app.activity();
  expect(span).toEqual({
    from: new Date("2026-01-01T11:04:00Z"),
    to: new Date("2026-01-01T12:04:00Z"),
    bucketMs: minute,
  });
  expect(buckets).toHaveLength(60);
  expect(busy(buckets)).toEqual([
    { at: "12:00", complete: 1, steps: 2 },
    { at: "12:01", complete: 1, errored: 1, steps: 3, failedAttempts: 2 },
  ]);
  expect(busy((await app.activity({ workflowName: "fine" })).buckets)).toEqual([
    { at: "12:00", complete: 1, steps: 2 },
    { at: "12:01", complete: 1, steps: 2 },
  ]);
  expect(busy((await app.activity({ workflowName: "everstep_hooks" })).buckets)).toEqual([]);
  await app.stop();
});

test("what was done here is there at once, and counted once when the store hears of it", async () => {
  const { runtime, app } = begin();
  await app.start();
  await (await app.workflows.fine.create()).result();
  const atOnce = busy((await app.activity()).buckets);
  expect(atOnce).toEqual([{ at: "12:00", complete: 1, steps: 2 }]);
  expect(busy((await app.activity({ workflowName: "broken" })).buckets)).toEqual([]);
  await runtime.advance("20 seconds");
  expect(busy((await app.activity()).buckets)).toEqual(atOnce);
  await app.stop();
});

describe("buckets", () => {
  test.each([
    [1, 1, 1],
    [60, 60, 1],
    [120, 120, 1],
    [121, 61, 2],
    [1440, 120, 12],
    [10_080, 120, 84],
  ])("of %i minutes are %i of %i minutes, the present in the last of them", async (minutes, count, each) => {
    const { runtime, app } = begin();
    await app.start();
    await app.workflows.fine.create();
    await runtime.advance("1 minute");
    const { from, to, bucketMs, buckets } = await app.activity({ minutes });
    expect([buckets.length, bucketMs]).toEqual([count, each * minute]);
    expect(buckets.map(({ at }) => at.getTime())).toEqual(
      buckets.map((_unused, n) => from.getTime() + n * bucketMs),
    );
    expect(to.getTime() - from.getTime()).toBe(count * bucketMs);
    expect([from.getTime() % bucketMs, to.getTime() > runtime.now()]).toEqual([0, true]);
    expect(to.getTime() - runtime.now()).toBeLessThanOrEqual(bucketMs);
    await app.stop();
  });

  test("add up the minutes in them", async () => {
    const { runtime, app } = begin();
    await app.start();
    for (let n = 0; n < 30; n++) {
      await app.workflows.fine.create();
      await runtime.advance("1 minute");
    }
    const { buckets } = await app.activity({ minutes: 1440 });
    expect(buckets.reduce((sum, { complete }) => sum + complete, 0)).toBe(30);
    expect(Math.max(...buckets.map(({ complete }) => complete))).toBe(12);
    await app.stop();
  });

  test.each([0, -1, 1.5, 10_081, Number.NaN, "60" as never])("of %s minutes are refused", async (minutes) => {
    const { app } = begin();
    await expect(app.activity({ minutes })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("from 1 to 10080"),
    });
    await app.stop();
  });

  test("are empty on a store that keeps none", async () => {
    const { app } = begin((store) => {
      const { beat, listRunners, readTallies, ...others } = createFaultyStore(store);
      return others;
    });
    const { buckets } = await app.activity({ minutes: 5 });
    expect(buckets).toHaveLength(5);
    expect(busy(buckets)).toEqual([]);
    await app.stop();
  });
});
