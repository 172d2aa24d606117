/** Rule 2: a step may run more than once. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createGate, createTestHarness } from "everstep/testing";

const requests: string[] = [];
const charges = new Map<string, { id: string }>();
const bank = {
  async charge(_amount: number, options: { idempotencyKey: string }) {
    requests.push(options.idempotencyKey);
    const known = charges.get(options.idempotencyKey);
    if (known) return known;
    const charge = { id: `ch-${charges.size + 1}` };
    charges.set(options.idempotencyKey, charge);
    return charge;
  },
};
const partner = { order: async () => void requests.push("ordered") };

// #region key
const payment = defineWorkflow({ name: "payment" }, async (_event, step) =>
  step.do("charge", async ({ idempotencyKey }) => bank.charge(42, { idempotencyKey })),
);
// #endregion key

// #region fail
const purchase = defineWorkflow({ name: "purchase" }, async (_event, step) => {
  await step.do("order by fax", { ifInterrupted: "fail", retries: false }, async () => partner.order());
});
// #endregion fail

const harness = createTestHarness({ workflows: { PAYMENT: payment, PURCHASE: purchase } });

// The bank has charged, and the process dies before the step is recorded.
await harness.workflows.PAYMENT.create({ id: "p-1" });
harness.runner("dying").stopBefore("commit", { step: "charge" });
await harness.runner("dying").tick();
harness.runner("dying").kill();
await harness.advance("1 minute");
assert.deepEqual(requests, ["payment/p-1/1/charge", "payment/p-1/1/charge"]);
assert.deepEqual(await harness.status("p-1"), { status: "complete", output: { id: "ch-1" } });

requests.length = 0;
const gate = createGate();
partner.order = async () => {
  requests.push("ordered");
  await gate.wait();
};
await harness.workflows.PURCHASE.create({ id: "fax-1" });
await harness.runner("other").tick();
harness.runner("other").kill();
await harness.advance("1 minute");
assert.deepEqual(requests, ["ordered"]);
assert.equal((await harness.status("fax-1")).error?.code, "STEP_INTERRUPTED");
await harness.stop();
