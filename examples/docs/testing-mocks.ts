/** Mocks instead of the real thing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const bank = {
  async charge(): Promise<{ id: number }> {
    throw new Error("a test must not charge");
  },
};
const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  const charge = await step.do("charge", { retries: { limit: 3 } }, async () => bank.charge());
  await step.sleep("cool-off", "2 days");
  const approval = await step.waitForEvent<{ by: string }>("approval", { type: "approved" });
  return { charge: charge.id, by: approval.payload.by };
});

test("everything mocked", async (t) => {
  const harness = createTestHarness({ workflows: { ORDER: order } });
  t.after(() => harness.stop());
  // #region mocks
  const mocks = harness.mock("ORDER"); // or harness.mock("ORDER", "o-1") for one instance
  mocks.step("charge").throws(new Error("down"), { times: 2 }).returns({ id: 7 });
  mocks.event("approved").arrives({ payload: { by: "ann" } });
  mocks.disableSleeps().disableRetryDelays();

  await harness.workflows.ORDER.create({ id: "o-1" });
  await harness.runUntilIdle();
  assert.deepEqual(await harness.status("o-1"), { status: "complete", output: { charge: 7, by: "ann" } });
  // #endregion mocks
  assert.equal((await harness.history("o-1")).steps[0]?.attempts, 3);
});

test("timeouts", async (t) => {
  const harness = createTestHarness({ workflows: { ORDER: order } });
  t.after(() => harness.stop());
  // #region timeouts
  harness.mock("ORDER").step("charge").timesOut({ times: 1 }).returns({ id: 7 });
  harness.mock("ORDER").event("approved").timesOut();
  // #endregion timeouts
  await harness.workflows.ORDER.create({ id: "o-1" });
  await harness.advance("10 minutes");
  await harness.advance("10 seconds");
  await harness.advance("2 days");
  assert.equal((await harness.history("o-1")).steps[0]?.errors[0]?.code, "STEP_TIMEOUT");
  assert.equal((await harness.status("o-1")).error?.code, "WAIT_FOR_EVENT_TIMEOUT");
});
