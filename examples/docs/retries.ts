/** How a step is tried again: its own config, the workflow's defaults, and what an error asks for. */
import assert from "node:assert/strict";
import { defineWorkflow, httpClassifier, NonRetryableError, RetryAfterError } from "everstep";
import { createTestHarness } from "everstep/testing";

let calls: string[] = [];
let fail: () => Error = () => new Error("the bank is down");
const called = async (name: string) => {
  calls.push(`${name} ${harness.clock.now().toISOString().slice(14, 19)}`);
  throw fail();
};
const bank = { charge: (_key: string, _signal: AbortSignal) => called("charge") };

// #region config
const payment = defineWorkflow(
  {
    name: "payment",
    retries: { limit: 3, delay: "2 seconds" }, // for every step that says nothing else
    timeout: "1 minute",
    classify: httpClassifier,
  },
  async (_event, step) => {
    await step.do(
      "charge",
      {
        retries: { limit: 4, delay: "1 second", backoff: "exponential", maxDelay: "5 seconds" },
        timeout: "30 seconds",
      },
      async ({ idempotencyKey, signal }) => bank.charge(idempotencyKey, signal),
    );
  },
);
// #endregion config

// #region delay
const polite = defineWorkflow({ name: "polite" }, async (_event, step) => {
  const retries = {
    limit: 3,
    backoff: "constant" as const,
    delay: ({ error }: { error: Error }) => (error.message.includes("night") ? "8 minutes" : "1 minute"),
  };
  await step.do("ask", { retries }, async () => called("ask"));
});
// #endregion delay

const harness = createTestHarness({ workflows: { PAYMENT: payment, POLITE: polite } });
async function attempts(workflow: "PAYMENT" | "POLITE", error: () => Error): Promise<string[]> {
  calls = [];
  fail = error;
  const start = harness.clock.now();
  await harness.advanceTo(Math.ceil(start.getTime() / 3_600_000) * 3_600_000);
  await harness.workflows[workflow].create();
  await harness.advance("40 minutes");
  return calls;
}

assert.deepEqual(await attempts("PAYMENT", () => new Error("the bank is down")), [
  "charge 00:00",
  "charge 00:01",
  "charge 00:03",
  "charge 00:07",
  "charge 00:12",
]);
assert.deepEqual(await attempts("POLITE", () => new Error("it is night")), [
  "ask 00:00",
  "ask 08:00",
  "ask 16:00",
  "ask 24:00",
]);

// #region errors
const noMoney = () => new NonRetryableError("The card was declined."); // ends the step at once
const later = () => new RetryAfterError("Too many requests.", "90 seconds"); // the next attempt in 90 seconds
// #endregion errors
assert.equal((await attempts("PAYMENT", noMoney)).length, 1);
assert.deepEqual((await attempts("PAYMENT", later)).slice(0, 3), [
  "charge 00:00",
  "charge 01:30",
  "charge 03:00",
]);

const withStatus = (status: number, headers = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, headers });
assert.equal((await attempts("PAYMENT", () => withStatus(404))).length, 1);
assert.equal((await attempts("PAYMENT", () => withStatus(422))).length, 1);
assert.equal((await attempts("PAYMENT", () => withStatus(503))).length, 5);
assert.deepEqual((await attempts("PAYMENT", () => withStatus(429, { "retry-after": "20" }))).slice(0, 2), [
  "charge 00:00",
  "charge 00:20",
]);
await harness.stop();
