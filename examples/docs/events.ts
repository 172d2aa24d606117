/** Waiting for events: in time, and too late. */
import assert from "node:assert/strict";
import { defineWorkflow, WaitForEventTimeoutError } from "everstep";
import { createTestHarness } from "everstep/testing";

// #region workflow
const approval = defineWorkflow({ name: "approval" }, async (_event, step) => {
  try {
    const answer = await step.waitForEvent<{ by: string }>("answer", { type: "approved", timeout: "3 days" });
    return `approved by ${answer.payload.by} at ${answer.timestamp.toISOString()}`;
  } catch (error) {
    if (!(error instanceof WaitForEventTimeoutError)) throw error;
    await step.do("tell the applicant", async () => "nobody answered");
    return "not approved";
  }
});
// #endregion workflow

const harness = createTestHarness({ workflows: { APPROVAL: approval } });
const answered = await harness.workflows.APPROVAL.create({ id: "answered" });
const ignored = await harness.workflows.APPROVAL.create({ id: "ignored" });
// #region send
await answered.sendEvent({
  type: "approved",
  payload: { by: "kim" },
  idempotencyKey: "approval-of-answered",
});
// #endregion send
await answered.sendEvent({
  type: "approved",
  payload: { by: "ann" },
  idempotencyKey: "approval-of-answered",
});
await harness.advance("3 days");
assert.deepEqual(await answered.status(), {
  status: "complete",
  output: "approved by kim at 2026-01-01T00:00:00.000Z",
});
assert.deepEqual(await ignored.status(), { status: "complete", output: "not approved" });
assert.equal((await harness.history("answered")).events.length, 1);
await harness.stop();
