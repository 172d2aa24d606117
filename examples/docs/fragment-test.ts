/** A fragment with a clock in the test's hands. */
import assert from "node:assert/strict";
import { createWorkflowsFragment, defineWorkflow, fragnoRuntime } from "everstep/fragment";
import { memory } from "everstep/memory";
import { createFakeRuntime } from "everstep/testing";

const reminder = defineWorkflow({ name: "reminder" }, async (_event, step) => {
  await step.sleep("a day", "1 day");
  return "reminded";
});

// #region test
const clock = createFakeRuntime({ seed: 7 });
const { workflows, runner, stop } = createWorkflowsFragment(
  { workflows: { REMINDER: reminder }, runtime: fragnoRuntime(clock) },
  { store: memory() },
);
const instance = await workflows.REMINDER.create();
await runner.tick();
await clock.advance("1 day");
await runner.tick();
assert.deepEqual(await instance.status(), { status: "complete", output: "reminded" });
// #endregion test
await stop();
