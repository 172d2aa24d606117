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
    await step.do(`send ${Date.now()}`, async () => send(to)); // unknown to every replay: runs again
  }
  const all = event.payload.recipients.map((to) => step.do("remind", async () => send(to)));
  await Promise.all(all); // DUPLICATE_STEP_KEY: "remind" is still in flight
});
// #endregion wrong

// #region right
const right = defineWorkflow({ name: "right" }, async (event: Recipients, step) => {
  for (const to of event.payload.recipients) {
    await step.do("send", async () => send(to)); // send, send#2, send#3, ...
  }
  await Promise.all(event.payload.recipients.map((to) => step.do(`remind ${to}`, async () => send(to))));
});
// #endregion right

// #region repeat
const numbered = defineWorkflow({ name: "numbered" }, async (event: Recipients, step) => {
  const all = event.payload.recipients.map((to) => step.do("send", { repeat: true }, async () => send(to)));
  await Promise.all(all); // send, send#2, ... in the order of the calls
});
// #endregion repeat

const harness = createTestHarness({ workflows: { WRONG: wrong, RIGHT: right, NUMBERED: numbered } });
const params = { recipients: ["ann", "bob"] };
await harness.workflows.WRONG.create({ id: "wrong", params });
await harness.runUntilIdle();
assert.equal((await harness.status("wrong")).error?.code, "DUPLICATE_STEP_KEY");

sent.length = 0;
await harness.workflows.RIGHT.create({ id: "right", params });
await harness.runUntilIdle();
assert.deepEqual(await harness.steps("right"), [
  "send completed",
  "send#2 completed",
  "remind ann completed",
  "remind bob completed",
]);
assert.deepEqual(sent, ["ann", "bob", "ann", "bob"]);

await harness.workflows.NUMBERED.create({ id: "numbered", params });
await harness.runUntilIdle();
assert.deepEqual(await harness.steps("numbered"), ["send completed", "send#2 completed"]);
await harness.stop();
