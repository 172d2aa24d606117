/** A row that nobody can read harms its own instance only. */
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { recordOf } from "../scenarios/early-wake.ts";
import { onEachSite, type Tampering } from "./behind-the-store.ts";

const damages: Record<string, Tampering> = {
  "params that are no JSON": {
    sql: "UPDATE <instance> SET params = '{\"a\":' WHERE instance_id = 'bad'",
    redis: () => ["HSET", ":instance:1:w:bad", "params", '{"a":'],
  },
  "a step's result that is no JSON": {
    sql: "UPDATE <step> SET result = '{\"a\":' WHERE run = ? AND step_index = 0",
    redis: (runId) => ["HSET", `:steps:${runId}`, "0", "what is this"],
  },
  "a status that nobody knows": {
    sql: "UPDATE <run> SET status = 'foggy' WHERE id = ?",
    redis: (runId) => ["HSET", `:run:${runId}`, "status", "foggy"],
  },
  "a run without its instance": {
    sql: "DELETE FROM <instance> WHERE instance_id = 'bad'",
    redis: () => ["DEL", ":instance:1:w:bad"],
  },
};

const workflow = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
  const first = await step.do("first", async () => payload);
  await step.sleep("nap", "1 minute");
  return step.do("second", async () => first);
});

onEachSite("damaged rows", (take) => {
  test.each(Object.entries(damages))(
    "R-060 %s: its instance is put aside, all others go on as ever",
    async (_what, damage) => {
      const site = take();
      const story = createTestHarness({
        workflows: { W: workflow },
        store: site.open,
        runner: { maxResidents: 0 },
      });
      const others = Array.from({ length: 20 }, (_, n) => `i${n}`);
      await story.workflows.W.createBatch(["bad", ...others].map((id) => ({ id, params: { id } })));
      await story.runUntilIdle();
      const { runId } = await recordOf(story, "bad");
      await site.tamper(damage, runId);
      await story.clock.advance("1 minute");
      await story.runUntilIdle({ maxTicks: 5 });
      for (const id of others) expect(await story.status(id)).toEqual({ status: "complete", output: { id } });
      // Nobody keeps coming back to it.
      await story.clock.advance("10 minutes");
      expect(await story.runUntilIdle({ maxTicks: 5 })).toBe(0);
      const record = await story.app.store.getInstance({ workflowName: "w", instanceId: "bad" });
      expect(["errored", "complete", undefined]).toContain(record?.status);
      if (record?.status === "errored") expect(record.error?.code).toBe("HISTORY_UNREADABLE");
      const { items } = await story.workflows.W.list({ pageSize: 100, status: "complete" });
      expect(items.length).toBeGreaterThanOrEqual(20);
      await story.stop();
    },
  );
});
