/** A host without a loop that is set going through a queue. */
import assert from "node:assert/strict";
import { createQueueHandler, createWorkflows, defineWorkflow, type QueueBatch } from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => "charged");
  await step.waitForEvent("approval", { type: "approved", timeout: "1 week" });
  return step.do("ship", async () => "shipped");
});
/** What the platform's queue does, in a few lines. */
const sent: { readonly body: unknown; readonly delaySeconds: number }[] = [];
const queue = {
  async send(body: unknown, { delaySeconds }: { readonly delaySeconds: number }) {
    sent.push({ body: JSON.stringify(body), delaySeconds });
  },
};

// #region send
const app = createWorkflows({
  workflows: { ORDER: order },
  store: sqlite("app.db"),
  dispatcher: {
    wake(hint) {
      const laterMs = hint.dueAt ? hint.dueAt.getTime() - Date.now() : 0;
      const delaySeconds = Math.min(Math.ceil(laterMs / 1000), 12 * 60 * 60); // the most a queue takes
      return queue.send({ ...hint, enqueuedAt: Date.now() }, { delaySeconds });
    },
  },
});
// #endregion send

// #region receive
const handleBatch = createQueueHandler(app, { maxAge: "24 hours", maxInstances: 10 });

const worker = {
  async queue(batch: QueueBatch) {
    const { failed, malformed } = await handleBatch(batch);
    if (failed + malformed > 0) console.warn(`${failed} come again, ${malformed} were dropped`);
  },
};
// #endregion receive

interface SqsEvent {
  readonly Records: readonly {
    readonly messageId: string;
    readonly body: string;
    readonly attributes: { readonly ApproximateReceiveCount: string; readonly SentTimestamp: string };
  }[];
}

// #region sqs
async function onSqs(event: SqsEvent) {
  const batchItemFailures: { itemIdentifier: string }[] = [];
  const messages = event.Records.map(({ messageId, body, attributes }) => ({
    id: messageId,
    body,
    attempts: Number(attributes.ApproximateReceiveCount),
    timestamp: new Date(Number(attributes.SentTimestamp)),
    ack() {},
    retry() {
      batchItemFailures.push({ itemIdentifier: messageId });
    },
  }));
  await handleBatch({ messages });
  return { batchItemFailures };
}
// #endregion sqs

const fates: string[] = [];
const deliver = () =>
  worker.queue({
    messages: sent.splice(0).map(({ body }, at) => ({
      id: String(at),
      body,
      attempts: 1,
      ack: () => fates.push("ack"),
      retry: ({ delaySeconds }) => fates.push(delaySeconds > 3600 ? "later" : "again"),
    })),
  });
const instance = await app.workflows.ORDER.create({ id: "o-1" });
await deliver();
assert.equal((await instance.status()).status, "waiting");
await instance.sendEvent({ type: "approved" });
assert.equal(sent.length, 2, "its timeout, and the event");
await deliver();
assert.deepEqual(fates, ["ack", "later", "ack"]);
assert.deepEqual(await instance.status(), { status: "complete", output: "shipped" });

const attributes = { ApproximateReceiveCount: "1", SentTimestamp: String(Date.now()) };
const later = { workflowName: "order", instanceId: "o-1", reason: "wake", dueAt: Date.now() + 60_000 };
const answer = await onSqs({
  Records: [
    { messageId: "m-1", body: JSON.stringify({ ...later, dueAt: undefined }), attributes },
    { messageId: "m-2", body: JSON.stringify(later), attributes },
  ],
});
assert.deepEqual(answer, { batchItemFailures: [{ itemIdentifier: "m-2" }] });
await app.stop();
