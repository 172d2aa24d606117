/** Rule 3: names are identities. */
import assert from "node:assert/strict";
import { defineWorkflow, type WorkflowEvent } from "everstep";
import { createTestHarness } from "everstep/testing";

const sent: string[] = [];
const send = async (to: string) => void sent.push(to);
type Recipients = WorkflowEvent<{ recipients: string[] }>;

// #region wrong
const wrong = defineWorkflow({ name: "wrong" }, async (event: Recipients, step) => {
  for (const to of event.payload.recipients) {
    await step.do("send", async () => send(to)); // runs once; the others answer with its result
    await step.do(`send ${Date.now()}`, async () => send(to)); // unknown to every replay: runs again
  }
});
// #endregion wrong

// #region right
const right = defineWorkflow({ name: "right" }, async (event: Recipients, step) => {
  for (const to of event.payload.recipients) {
    await step.do(`send to ${to}`, async () => send(to));
  }
  for (const to of event.payload.recipients) {
    await step.do("remind", { repeat: true }, async () => send(to)); // remind#0, remind#1, ...
  }
});
// #endregion right

const harness = createTestHarness({ workflows: { WRONG: wrong, RIGHT: right } });
const params = { recipients: ["ann", "bob"] };
await harness.workflows.WRONG.create({ id: "wrong", params });
await harness.runUntilIdle();
assert.equal((await harness.steps("wrong")).filter((step) => step === "send completed").length, 1);
assert.match((await harness.logs("wrong"))[0]?.message ?? "", /answered with its first result/);

sent.length = 0;
await harness.workflows.RIGHT.create({ id: "right", params });
await harness.runUntilIdle();
assert.deepEqual(await harness.steps("right"), [
  "send to ann completed",
  "send to bob completed",
  "remind#0 completed",
  "remind#1 completed",
]);
assert.deepEqual(sent, ["ann", "bob", "ann", "bob"]);
await harness.stop();
