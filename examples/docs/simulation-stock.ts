/** Stock that stays reserved when an order is cancelled in between: found by another order of events, without any crash. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { SimulationFailed, simulate } from "everstep/testing";

class Shop {
  readonly reserved = new Set<string>();
  readonly shipped = new Set<string>();
}

// #region wrong
const order = (shop: Shop) =>
  defineWorkflow({ name: "order" }, async ({ instanceId: id }, step) => {
    await step.do("reserve", async () => void shop.reserved.add(id));
    await step.waitForEvent("payment", { type: "paid", timeout: "1 day" });
    await step.do("ship", async () => {
      shop.reserved.delete(id);
      shop.shipped.add(id);
    });
  });

const terminating = () =>
  simulate((shop: Shop) => ({ ORDER: order(shop) }), {
    state: () => new Shop(),
    scenario: async ({ workflows, clock, random }) => {
      const instance = await workflows.ORDER.create({ id: "o-1" });
      await clock.sleep(random.pick(["0 seconds", "10 seconds", "2 hours"]));
      await instance.terminate(); // the customer has changed their mind
    },
    invariants: {
      "nothing stays reserved": ({ state }) => state.reserved.size === 0,
    },
  });
// #endregion wrong

// #region fixed
const cancellable = (shop: Shop) =>
  defineWorkflow({ name: "order" }, async ({ instanceId: id }, step) => {
    await step.do("reserve", async () => void shop.reserved.add(id));
    const isPaid = await Promise.race([
      step.waitForEvent("payment", { type: "paid", timeout: "1 day" }).then(() => true),
      step.waitForEvent("cancellation", { type: "cancelled", timeout: "1 day" }).then(() => false),
    ]).catch(() => false); // nobody paid within a day
    if (!isPaid) return step.do("release", async () => void shop.reserved.delete(id));
    await step.do("ship", async () => {
      shop.reserved.delete(id);
      shop.shipped.add(id);
    });
  });

test("nothing stays reserved, whoever is first", async () => {
  await simulate((shop: Shop) => ({ ORDER: cancellable(shop) }), {
    state: () => new Shop(),
    scenario: async ({ workflows, clock, random }) => {
      const instance = await workflows.ORDER.create({ id: "o-1" });
      for (const type of random.pick([["paid"], ["cancelled"], ["cancelled", "paid"], []])) {
        await clock.sleep(random.pick(["0 seconds", "10 seconds", "2 hours", "1 day"]));
        // One that comes too late is told so.
        await instance.sendEvent({ idempotencyKey: `o-1-${type}`, type }).catch(() => {});
      }
    },
    invariants: {
      "nothing stays reserved": ({ state }) => state.reserved.size === 0,
      "every order comes to its end": ({ instances }) => instances[0]?.status === "complete",
    },
  });
});
// #endregion fixed

test("the mistake is found", async () => {
  const failure = await terminating().catch((error: unknown) => error);
  assert(failure instanceof SimulationFailed);
  assert.equal(failure.report.failures[0]?.faults, 0);
  console.log(failure.message);
});
