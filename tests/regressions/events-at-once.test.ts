import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import { seeded } from "./seeded.ts";

const batch = 100;

const waiter = defineWorkflow({ name: "w" }, async (_event, step) => {
  const { payload } = await step.waitForEvent<number>("note", { type: "note", timeout: "1 hour" });
  return payload;
});

onEachData("events at once", {}, (take) => {
  test("R-019 an event sent right behind the creation is received, whenever the runner comes", async () => {
    const { open, isRemote } = take();
    const story = createTestHarness({ workflows: { W: waiter }, store: open });
    const random = seeded(19);
    const sent = new Map<string, number>();
    for (let round = 0; round < (isRemote ? 3 : 100); round++) {
      const ids = Array.from({ length: batch }, (_, n) => `i-${round}-${n}`);
      const ticks: Promise<unknown>[] = [];
      const acts = ids.map(async (id, n) => {
        const instance = await story.runner("client").workflows.W.create({ id });
        const payload = round * batch + n;
        sent.set(id, payload);
        if (random() < 0.05) ticks.push(story.runner("main").app.tick({ maxInstances: 20 }));
        await instance.sendEvent({ type: "note", payload });
        if (random() < 0.05) ticks.push(story.runner("other").app.tick({ maxInstances: 20 }));
      });
      await Promise.all(acts);
      await story.settle();
      await Promise.all(ticks);
      await story.runUntilIdle({ runners: ["main", "other"] });
    }
    expect(await story.app.counts()).toMatchObject({ complete: sent.size, waiting: 0, active: 0 });
    let cursor: string | undefined;
    do {
      const page = await story.workflows.W.list({ pageSize: 100, ...(cursor ? { cursor } : {}) });
      for (const { id, output } of page.items) expect(output, id).toBe(sent.get(id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    await story.stop();
  });
});
