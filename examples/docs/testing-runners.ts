/** Several processes, and what becomes of their work when they die or are too slow. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { createGate, createTestHarness, tell } from "everstep/testing";

let charges = 0;
const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => ++charges);
  await step.do("ship", async () => "shipped");
});

// #region kill
test("a process that dies after the charge does not make the next one charge again", async (t) => {
  const harness = createTestHarness({ workflows: { ORDER: order } });
  t.after(() => harness.stop());
  await harness.workflows.ORDER.create({ id: "o-1" });
  charges = 0;

  const dying = harness.runner("dying");
  dying.stopAfter("commit", { step: "charge" }); // recorded, but the runner does not hear of it
  await dying.tick();
  dying.kill();

  await harness.advance("1 minute"); // the lease runs out, the main runner takes over
  assert.deepEqual(await harness.steps("o-1"), ["charge completed", "ship completed"]);
  assert.equal(charges, 1);
});
// #endregion kill

// #region race
test("a runner that lost its lease changes nothing", async (t) => {
  const story = await tell(order);
  t.after(() => story.harness.stop());
  const slow = await story.runner("slow").stopBefore("commit"); // charged, not yet recorded
  await story.clock.advance("2 minutes"); // its lease has run out
  await story.runner("fast").tick();
  assert.equal(await slow.continue(), "superseded");
  assert.deepEqual(await story.steps(), ["charge completed", "ship completed"]);
});
// #endregion race

// #region fault
test("a lost reply is harmless", async (t) => {
  const harness = createTestHarness({ workflows: { ORDER: order } });
  t.after(() => harness.stop());
  harness.runner().faults.fail("commit", "ambiguous", { applied: true });
  await harness.workflows.ORDER.create({ id: "o-1" });
  charges = 0;
  await harness.advance("5 seconds");
  assert.equal((await harness.status("o-1")).status, "complete");
  assert.equal(charges, 1);
});
// #endregion fault

// #region gate
test("a paused instance finishes the step in flight and no other", async (t) => {
  const gate = createGate();
  const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
    await step.do("first", async () => gate.wait());
    await step.do("second", async () => {});
  });
  const harness = createTestHarness({ workflows: { SLOW: slow } });
  t.after(() => harness.stop());
  const instance = await harness.workflows.SLOW.create({ id: "s-1" });
  await harness.tick(); // returns with the body held at the gate
  await instance.pause();
  await gate.open();
  assert.deepEqual(await harness.steps("s-1"), ["first completed"]);
});
// #endregion gate
