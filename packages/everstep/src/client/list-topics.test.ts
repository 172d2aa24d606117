import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createTestHarness } from "../testing/harness.ts";

const listens = defineWorkflow({ name: "listens" }, async ({ payload }, step) => {
  await step.waitForEvent("news", { topic: String(payload) });
});

test("topics that are waited on are listed by name, in pages, and leave with the last that waits", async () => {
  const harness = createTestHarness({ workflows: { LISTENS: listens }, store: memory() });
  for (const [n, topic] of ["sport", "news", "news", "stock.low"].entries()) {
    await harness.workflows.LISTENS.create({ id: `i${n}`, params: topic });
  }
  await harness.runUntilIdle();
  const { app } = harness;
  expect(await app.topics()).toEqual({
    items: [
      { topic: "news", waiters: 2 },
      { topic: "sport", waiters: 1 },
      { topic: "stock.low", waiters: 1 },
    ],
    hasNextPage: false,
  });
  const page = await app.topics({ pageSize: 2 });
  expect(page.hasNextPage).toBe(true);
  expect((await app.topics({ pageSize: 2, cursor: page.cursor })).items).toEqual([
    { topic: "stock.low", waiters: 1 },
  ]);
  expect((await app.topics({ order: "desc", pageSize: 1 })).items).toEqual([
    { topic: "stock.low", waiters: 1 },
  ]);
  await app.publish("news");
  await harness.runUntilIdle();
  expect((await app.topics()).items.map(({ topic }) => topic)).toEqual(["sport", "stock.low"]);
  await expect(app.topics({ cursor: "nonsense" })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
  await harness.stop();
});
