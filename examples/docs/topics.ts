/** One publication reaches every instance that waits on its topic now. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const watch = defineWorkflow({ name: "watch" }, async (_event, step) => {
  const news = await step.waitForEvent<{ version: string }>("release", {
    topic: "releases.stable",
    timeout: "30 days",
  });
  return news.payload.version;
});

const harness = createTestHarness({ workflows: { WATCH: watch } });
const { app } = harness;
await app.workflows.WATCH.createBatch([{ id: "a" }, { id: "b" }]);
assert.deepEqual(await app.publish("releases.stable", { version: "1.0" }), { waiters: 0 });
await harness.runUntilIdle();

// #region publish
const { items } = await app.waiters("releases.stable");
const { waiters } = await app.publish(
  "releases.stable",
  { version: "2.0" },
  { idempotencyKey: "release-2.0" },
);
console.log(items.length, waiters); // 2 2
const again = await app.publish("releases.stable", { version: "2.0" }, { idempotencyKey: "release-2.0" });
console.log(again.waiters); // 2: the answer of the first time; nobody gets it twice
// #endregion publish

assert.deepEqual([items.length, waiters, again.waiters], [2, 2, 2]);
await harness.runUntilIdle();
assert.deepEqual(await harness.status("a"), { status: "complete", output: "2.0" });
assert.equal((await harness.history("b")).events.length, 1);
await harness.stop();
