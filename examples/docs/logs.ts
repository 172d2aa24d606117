/** Log lines are kept with the instance. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

// #region workflow
const invoice = defineWorkflow({ name: "invoice" }, async (_event, step) => {
  await step.log.info("begun", { customer: "c-7" });
  await step.do("send", async () => {
    await step.log.warn("the printer is slow", undefined, { category: "printing" });
  });
  await step.sleep("until it is due", "30 days");
});
// #endregion workflow

const harness = createTestHarness({ workflows: { INVOICE: invoice } });
const instance = await harness.workflows.INVOICE.create({ id: "invoice-1" });
await harness.runUntilIdle();
await harness.restartRunner();
await harness.advance("30 days");

// #region read
const { items } = await instance.logs({ category: "printing" });
for (const line of items) console.log(line.level, line.message, line.stepKey, line.attempt);
// warn the printer is slow send 1
// #endregion read
assert.deepEqual(
  items.map(({ level, message, stepKey, attempt }) => [level, message, stepKey, attempt]),
  [["warn", "the printer is slow", "send", 1]],
);
const lines = await harness.logs(instance);
assert.deepEqual(
  lines.map(({ message, isReplay }) => [message, isReplay]),
  [
    ["begun", false],
    ["the printer is slow", false],
    ["begun", true],
  ],
);
await harness.stop();
