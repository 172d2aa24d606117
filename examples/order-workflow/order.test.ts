import { createTestHarness } from "everstep/testing";
import { beforeEach, expect, test } from "vitest";
import { defineOrder, type Shop } from "./order.ts";

// A shop that remembers what was charged. Everything else is the workflow as it runs in production, on a clock and a
// store that belong to the test.
let charges: string[];
let shop: Shop;

beforeEach(() => {
  charges = [];
  shop = {
    findUser: async (id) => (id === "ann" ? { id, name: "Ann" } : null),
    charge: async (userId, amount, key) => {
      charges.push(`${userId} ${amount} (${key})`);
      return { chargeId: `charge-${charges.length}` };
    },
  };
});

const order = { id: "order-1", params: { userId: "ann", amount: 42 } };
const charge = "ann 42 (order/order-1/1/charge)";

test("an order is charged, cools off, and completes when it is approved", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  const instance = await harness.workflows.ORDER.create(order);

  await harness.runUntilIdle();
  expect(await harness.steps(instance)).toEqual([
    "load user completed",
    "charge completed",
    "cool-off waiting",
  ]);

  await harness.advance("1 hour");
  await harness.sendEvent(instance, { type: "approved", payload: { by: "bob" } });
  await harness.runUntilIdle();

  expect(await instance.status()).toEqual({
    status: "complete",
    output: { chargeId: "charge-1", approvedBy: "bob" },
  });
  expect(charges).toEqual([charge]);
  expect((await harness.logs(instance)).map((line) => line.message)).toEqual(["order approved"]);
});

test("a charge that fails is tried again, later each time", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  harness.mock("ORDER").step("charge").throws(new Error("bank is down"), { times: 2 });
  await harness.workflows.ORDER.create(order);

  await harness.runUntilIdle();
  expect(await harness.steps("order-1")).toEqual(["load user completed", "charge waiting"]);

  await harness.advance("10 seconds"); // the second attempt fails, too
  expect(charges).toEqual([]);

  await harness.advance("20 seconds"); // the third reaches the bank
  expect(charges).toEqual([charge]);
  expect((await harness.history("order-1")).steps[1]).toMatchObject({ attempts: 3, status: "completed" });
});

test("a bank that never answers is given up, and the order fails", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  harness.mock("ORDER").disableRetryDelays().step("charge").timesOut();
  await harness.workflows.ORDER.create(order);

  await harness.advance("2 minutes"); // four attempts of 30 seconds
  expect(await harness.status("order-1")).toMatchObject({
    status: "errored",
    error: { code: "STEP_TIMEOUT" },
  });
});

test("an order nobody approves fails after three days", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  await harness.workflows.ORDER.create(order);

  await harness.advance("1 hour");
  await harness.advance("71 hours");
  expect(await harness.status("order-1")).toEqual({ status: "waiting" });
  await harness.advance("1 hour");
  expect(await harness.status("order-1")).toMatchObject({
    status: "errored",
    error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
  });
});

test("an order for nobody is not tried again", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  await harness.workflows.ORDER.create({ ...order, params: { userId: "eve", amount: 1 } });
  await harness.runUntilIdle();
  expect(await harness.status("order-1")).toMatchObject({
    status: "errored",
    error: { message: "There is no user eve." },
  });
});

test("when the process dies after the charge, the next one does not charge again", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  await harness.workflows.ORDER.create(order);

  // The charge is recorded, and the process dies before it hears of that.
  const dying = harness.runner("dying");
  dying.stopAfter("commit", { step: "charge" });
  await dying.tick();
  dying.kill();

  await harness.advance("1 hour"); // another process replays what is recorded, and goes on
  expect(await harness.steps("order-1")).toEqual([
    "load user completed",
    "charge completed",
    "cool-off completed",
    "approval waiting",
  ]);
  expect(charges).toEqual([charge]);
});

test("when the process dies before the charge is recorded, it is made again under the same key", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  await harness.workflows.ORDER.create(order);

  const dying = harness.runner("dying");
  dying.stopBefore("commit", { step: "charge" });
  await dying.tick();
  dying.kill();

  await harness.advance("1 minute");
  expect(charges).toEqual([charge, charge]); // the bank sees one key and charges once
});

test("the whole order in an instant: approval mocked, sleeps off", async () => {
  const harness = createTestHarness({ workflows: { ORDER: defineOrder(shop) } });
  harness
    .mock("ORDER")
    .disableSleeps()
    .event("approved")
    .arrives({ payload: { by: "bob" } });
  await harness.workflows.ORDER.create(order);
  await harness.runUntilIdle();
  expect(await harness.status("order-1")).toMatchObject({
    status: "complete",
    output: { approvedBy: "bob" },
  });
});
