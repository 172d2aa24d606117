/** Rule 4: await every step. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createGate, createTestHarness } from "everstep/testing";

const gate = createGate();
const writeReport = async () => gate.wait();
const readPrice = async () => 42;
const clock = () => new Promise<"slow">(() => {});

// #region wrong
const wrong = defineWorkflow({ name: "wrong" }, async (_event, step) => {
  void step.do("write report", async () => writeReport()); // lost: the workflow is over before it
  return "done";
});
// #endregion wrong

// #region race
const price = defineWorkflow({ name: "price" }, async (_event, step) =>
  Promise.race([
    step.do("read price", async () => readPrice()),
    clock(), // wrong: nobody writes down whether this was faster. Use step.sleep.
  ]),
);
// #endregion race

const harness = createTestHarness({ workflows: { WRONG: wrong, PRICE: price } });
await harness.workflows.WRONG.create({ id: "forgotten" });
await harness.workflows.PRICE.create({ id: "price" });
await harness.runUntilIdle();
assert.deepEqual(await harness.status("forgotten"), { status: "complete", output: "done" });
assert.deepEqual(await harness.steps("forgotten"), []);
assert.equal((await harness.status("price")).output, 42);
await gate.open();
await harness.stop();
