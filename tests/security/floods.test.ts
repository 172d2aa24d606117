/** There is an end to what one can be made to keep, and whoever comes to it is told; everybody else goes on. */
import { createWorkflows, defaultLimits, defineWorkflow } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachData } from "../regressions/each-data.ts";
import { quiet } from "../regressions/quiet.ts";
import { onEachStore } from "../scenarios/each-store.ts";

onEachStore("floods", (tell) => {
  test("SEC-23 a run that is sent ten times the events it may hold keeps those it may, and goes on", async () => {
    const cap = 20;
    const workflow = defineWorkflow(
      { name: "w", limits: { maxBufferedEvents: cap } },
      async (_event, step) => {
        const { payload } = await step.waitForEvent("wanted", { type: "wanted", timeout: "1 day" });
        return payload;
      },
    );
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    const neighbour = await story.workflows.W.create({ id: "neighbour" });
    await story.runUntilIdle();
    const answers = await Promise.all(
      Array.from({ length: 10 * cap }, (_, n) =>
        instance.sendEvent({ type: "flood", payload: n }).then(
          () => "accepted",
          ({ code }) => code,
        ),
      ),
    );
    expect(answers.filter((answer) => answer === "accepted")).toHaveLength(cap);
    expect(answers.filter((answer) => answer === "EVENT_BUFFER_FULL")).toHaveLength(9 * cap);
    await neighbour.sendEvent({ type: "wanted", payload: "as ever" });
    await story.runUntilIdle();
    expect(await neighbour.status()).toEqual({ status: "complete", output: "as ever" });
    expect((await instance.history({ pageSize: 100 })).events).toHaveLength(cap);
    // It can be steered, and ended.
    await instance.terminate();
    expect((await instance.status()).status).toBe("terminated");
  });

  test("SEC-23 a batch of more than a hundred is refused whole; a hundred are fine", async () => {
    const story = tell({ W: defineWorkflow({ name: "w" }, async () => "done") });
    const batch = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `i${n}` }));
    for (const count of [101, 1000])
      await expect(story.workflows.W.createBatch(batch(count))).rejects.toMatchObject({
        code: "BATCH_TOO_LARGE",
      });
    expect(await story.app.counts()).toMatchObject({ active: 0 });
    expect(await story.workflows.W.createBatch(batch(100))).toHaveLength(100);
    expect(defaultLimits).toMatchObject({ maxBatchSize: 100, maxPageSize: 100, maxBufferedEvents: 10_000 });
  });

  test("SEC-23 a run that asks for more steps than it may ends, and others do not notice", async () => {
    const workflow = defineWorkflow({ name: "w", limits: { maxSteps: 10 } }, async ({ payload }, step) => {
      for (let n = 0; payload.greedy || n < 5; n++) await step.do(`step ${n}`, async () => n);
      return "done";
    });
    const story = tell({ W: workflow });
    await story.workflows.W.createBatch([
      { id: "greedy", params: { greedy: true } },
      { id: "modest", params: {} },
    ]);
    await story.runUntilIdle();
    expect(await story.status("greedy")).toMatchObject({ error: { code: "STEP_LIMIT_EXCEEDED" } });
    expect(await story.status("modest")).toEqual({ status: "complete", output: "done" });
  });
});

onEachData("large reads", {}, (take, store) => {
  describe("SEC-31 a page has at most a hundred entries, whatever is asked for:", () => {
    test("instances, steps, events, logs, waiters and runs", async () => {
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        for (let n = 0; n < 120; n++) {
          step.log.info(`line ${n}`);
          await step.do(`step ${n}`, async () => n);
        }
        await step.waitForEvent("news", { topic: "news", timeout: "1 day" });
      });
      const quick = defineWorkflow({ name: "quick" }, async (_event, step) => {
        await step.waitForEvent("news", { topic: "news", timeout: "1 day" });
      });
      const app = createWorkflows({
        workflows: { W: workflow, QUICK: quick },
        store: take().open(),
        ...quiet(),
      });
      const instance = await app.workflows.W.create({ id: "i" });
      const many = (from: number) => Array.from({ length: 60 }, (_, n) => ({ id: `q${from + n}` }));
      for (const from of [0, 60]) await app.workflows.QUICK.createBatch(many(from));
      while ((await app.tick()).processed > 0);
      for (let n = 0; n < 120; n++) await instance.sendEvent({ type: "other", payload: n });
      const lists: Record<string, (pageSize: number) => Promise<number>> = {
        instances: async (pageSize) => (await app.workflows.QUICK.list({ pageSize })).items.length,
        steps: async (pageSize) => (await instance.history({ pageSize })).steps.length,
        events: async (pageSize) => (await instance.history({ pageSize })).events.length,
        logs: async (pageSize) => (await instance.logs({ pageSize })).items.length,
        waiters: async (pageSize) => (await app.waiters("news", { pageSize })).items.length,
      };
      for (const [name, list] of Object.entries(lists)) {
        expect(await list(100), name).toBe(100);
        for (const pageSize of [101, 1e9, Number.POSITIVE_INFINITY, Number.NaN, 0, -1, 1.5])
          await expect(list(pageSize), `${name} ${pageSize}`).rejects.toMatchObject({
            code: "INVALID_ARGUMENT",
          });
      }
      const restarts = store === "memory" || store === "sqlite" ? 105 : 3;
      const restarted = await app.workflows.QUICK.get("q0");
      for (let n = 0; n < restarts; n++) await restarted.restart();
      expect((await restarted.runs()).length).toBe(Math.min(restarts + 1, 100));
      await app.stop({ grace: 0 });
    });
  });
});
