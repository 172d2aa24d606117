// #region test
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const trial = defineWorkflow({ name: "trial" }, async (_event, step) => {
  await step.do("open account", async () => ({ account: 7 }));
  await step.sleep("trial month", "30 days");
  const { payload } = await step.waitForEvent<string>("choice", { type: "chosen", timeout: "1 week" });
  return payload;
});

test("the customer is asked after thirty days", async (t) => {
  const harness = createTestHarness({ workflows: { TRIAL: trial } });
  t.after(() => harness.stop());
  await harness.workflows.TRIAL.create({ id: "t-1" });

  await harness.runUntilIdle(); // everything that is due now
  assert.deepEqual(await harness.steps("t-1"), ["open account completed", "trial month waiting"]);

  await harness.advance("30 days"); // every wake on the way at its own time
  await harness.sendEvent("t-1", { type: "chosen", payload: "yearly" });
  await harness.runUntilIdle();
  assert.deepEqual(await harness.status("t-1"), { status: "complete", output: "yearly" });
});

test("a customer who does not choose is an error after a week", async (t) => {
  const harness = createTestHarness({ workflows: { TRIAL: trial } });
  t.after(() => harness.stop());
  await harness.workflows.TRIAL.create({ id: "t-1" });
  await harness.advance("37 days");
  assert.equal((await harness.status("t-1")).error?.code, "WAIT_FOR_EVENT_TIMEOUT");
});
// #endregion test
