/** Code that changes while instances run. */
import assert from "node:assert/strict";
import { defineWorkflow, type WorkflowDefinition } from "everstep";
import { createMemoryDatabase, memory } from "everstep/memory";
import { createTestHarness } from "everstep/testing";

const before = defineWorkflow({ name: "order" }, async (_event, step) => {
  const price = await step.do("price", async () => 10);
  await step.waitForEvent("paid", { type: "paid" });
  return { price };
});

// #region safe
const after = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("check stock", async () => true); // new: runs when the instance is replayed
  const price = await step.do("price", async () => 12); // recorded: still 10
  await step.waitForEvent("paid", { type: "paid" });
  return { price };
});
// #endregion safe

// #region mismatch
const broken = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.sleep("price", "1 hour"); // recorded as do: STEP_TYPE_MISMATCH
});
// #endregion mismatch

/** Begins with one version of the code and goes on with another, as a deploy does. */
async function deploy(next: WorkflowDefinition) {
  const database = createMemoryDatabase();
  const old = createTestHarness({ workflows: { ORDER: before }, store: () => memory({ database }) });
  await old.workflows.ORDER.create({ id: "order-1" });
  await old.runUntilIdle();
  const harness = createTestHarness({
    workflows: { ORDER: next },
    store: () => memory({ database }),
    now: old.clock.now(),
  });
  await harness.sendEvent("order-1", { type: "paid" });
  await harness.runUntilIdle();
  const ended = { ...(await harness.status("order-1")), steps: await harness.steps("order-1") };
  await harness.stop();
  return ended;
}

const safe = await deploy(after);
assert.deepEqual([safe.status, safe.output], ["complete", { price: 10 }]);
assert.deepEqual(safe.steps, ["price completed", "paid completed", "check stock completed"]);
assert.equal((await deploy(broken)).error?.code, "STEP_TYPE_MISMATCH");
