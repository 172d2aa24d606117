/** A step that is not safe to repeat, what a simulation says about it, and the repair. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow, type WorkflowDefinition } from "everstep";
import { SimulationFailed, type SimulationTape, simulate } from "everstep/testing";

// #region bank
class Bank {
  readonly charges: { readonly order: string; readonly key?: string }[] = [];

  charge(order: string, key?: string): void {
    if (key !== undefined && this.charges.some((charge) => charge.key === key)) return;
    this.charges.push(key === undefined ? { order } : { order, key });
  }
}
// #endregion bank

// #region wrong
const order = (bank: Bank) =>
  defineWorkflow({ name: "order" }, async (event, step) => {
    await step.do("reserve", async () => "reserved");
    await step.do("charge", async () => bank.charge(event.instanceId));
    await step.do("ship", async () => "shipped");
  });
// #endregion wrong

// #region simulate
const chargedOnce = (orderOf: (bank: Bank) => WorkflowDefinition, replay?: SimulationTape) =>
  simulate((bank: Bank) => ({ ORDER: orderOf(bank) }), {
    state: () => new Bank(), // the world outside of the workflows, a new one for every seed
    scenario: async ({ workflows }) => {
      await workflows.ORDER.create({ id: "o-1" });
    },
    invariants: {
      "an order is charged once": ({ state }) =>
        state.charges.length === 1 || `there are ${state.charges.length} charges`,
    },
    ...(replay ? { replay } : {}),
  });
// #endregion simulate

// #region fixed
const repaired = (bank: Bank) =>
  defineWorkflow({ name: "order" }, async (event, step) => {
    await step.do("reserve", async () => "reserved");
    await step.do("charge", async ({ idempotencyKey }) => bank.charge(event.instanceId, idempotencyKey));
    await step.do("ship", async () => "shipped");
  });

test("an order is charged once", async () => {
  await chargedOnce(repaired);
});
// #endregion fixed

// #region keep
const killedAfterTheCharge: SimulationTape = { version: 1, seed: 0, choices: { 'body "charge"': [1] } };

test("a crash after the charge does not charge again", async () => {
  await chargedOnce(repaired, killedAfterTheCharge);
});
// #endregion keep

test("the mistake is found", async () => {
  const failure = await chargedOnce(order).catch((error: unknown) => error);
  assert(failure instanceof SimulationFailed);
  assert.deepEqual(failure.report.failures[0]?.tape, killedAfterTheCharge);
  console.log(failure.message);
});
