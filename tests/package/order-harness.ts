/** A user's own test with the harness, without any test runner. Run by scripts/try-package.mjs. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const reminder = defineWorkflow({ name: "reminder" }, async (_event, step) => {
  await step.sleep("a year", "365 days");
  return step.do("remind", async () => "happy birthday");
});

const harness = await createTestHarness({ workflows: { REMINDER: reminder } });
const instance = await harness.workflows.REMINDER.create();
await harness.runUntilIdle();
assert.equal((await instance.status()).status, "waiting");
await harness.advance("365 days");
assert.deepEqual(await instance.status(), { status: "complete", output: "happy birthday" });
await harness.stop();
console.log("harness complete");
