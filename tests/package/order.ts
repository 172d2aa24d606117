/** The first program of the documentation, as a user would have it in an empty project. Run by scripts/try-package.mjs. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow, NonRetryableError } from "everstep";
import { sqlite } from "everstep/sqlite";

async function charge(user: { id: number }, options: { signal: AbortSignal; idempotencyKey: string }) {
  if (options.signal.aborted) throw new NonRetryableError("too late");
  return { user: user.id, key: options.idempotencyKey };
}

export const order = defineWorkflow({ name: "order" }, async (event, step) => {
  const user = await step.do("load user", async () => ({ id: event.payload.userId }));
  await step.do(
    "charge",
    { retries: { limit: 3, delay: "1 second", backoff: "exponential" }, timeout: "30 seconds" },
    async ({ signal, attempt, idempotencyKey }) => {
      assert.equal(attempt, 1);
      return charge(user, { signal, idempotencyKey });
    },
  );
  await step.sleep("cool-off", "2 seconds");
  const approval = await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" });
  await step.log.info("approved", { by: approval.payload.by }, { category: "orders" });
  return { ok: true };
});

const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("app.db") });
await app.start();
const instance = await app.workflows.ORDER.create({ id: "o-1", params: { userId: 7 } });
await instance.sendEvent({ type: "approved", payload: { by: "kim" } });
const result = await instance.result({ timeout: "60 seconds" });
assert.deepEqual(result, { status: "complete", output: { ok: true }, timedOut: false });
const { items } = await instance.logs({ category: "orders" });
assert.deepEqual(
  items.map(({ message, data }) => [message, data]),
  [["approved", { by: "kim" }]],
);
await app.stop();
console.log("order complete");
