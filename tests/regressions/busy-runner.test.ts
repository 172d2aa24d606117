/** Whoever asks an app for something does not wait for its runner. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

onEachStore("a busy runner", (tell) => {
  describe("R-090 while the runner is blocked for a minute, nobody waits for it: when", () => {
    test.each(["its claim hangs", "its renewal hangs", "all its places are taken"])("%s", async (how) => {
      const gate = createGate();
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("held", { timeout: "1 day" }, () => gate.wait());
        await step.waitForEvent("note", { type: "note" });
      });
      const story = tell({ W: workflow }, { runner: { concurrency: 2 } });
      const app = story.runner("app");
      await app.workflows.W.create({ id: "first" });
      await app.start();
      const hangs = { "its claim hangs": "claim", "its renewal hangs": "renew" }[how];
      app.faults.plan(({ method }) => (method === hangs ? () => new Promise(() => {}) : null));
      await story.clock.advance("20 seconds");
      const before = story.runtime.now();
      const [asked, batch] = await Promise.all([
        app.workflows.W.create({ id: "i" }),
        app.workflows.W.createBatch(Array.from({ length: 100 }, (_, n) => ({ id: `i${n}` }))),
        (await app.workflows.W.get("first")).sendEvent({ type: "note" }),
        app.app.publish("news"),
      ]);
      expect([asked.id, batch.length]).toEqual(["i", 100]);
      // Not a millisecond has passed.
      expect(story.runtime.now()).toBe(before);
      expect((await story.workflows.W.list({ pageSize: 100 })).items).toHaveLength(100);
    });
  });
});
