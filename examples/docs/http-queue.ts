/** A host without a loop: hints go into a queue, and what comes out of it takes turns. */
import assert from "node:assert/strict";
import { createQueueHandler, createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => "ch-1");
  await step.waitForEvent("approval", { type: "approved" });
});
const sent: unknown[] = [];
const queue = { send: async (hint: unknown) => void sent.push(hint) };

// #region queue
const app = createWorkflows({
  workflows: { ORDER: order },
  store: sqlite("shop.db"),
  dispatcher: { wake: (hint) => queue.send(hint) },
});
const onMessages = createQueueHandler(app); // ({ messages: [{ id, body, ack(), retry({ delaySeconds }) }] }) => report
// #endregion queue

const instance = await app.workflows.ORDER.create({ id: "o-1" });
while (sent.length === 0) await new Promise((wake) => setTimeout(wake, 5));
assert.deepEqual(sent, [{ workflowName: "order", instanceId: "o-1", reason: "create" }]);
const acked: string[] = [];
const message = { id: "m-1", body: sent[0], ack: () => acked.push("m-1"), retry: () => assert.fail() };
const report = await onMessages({ messages: [message] });
assert.deepEqual([report.done, report.processed, acked], [1, 1, ["m-1"]]);
assert.equal((await instance.status()).status, "waiting");
await app.stop();
