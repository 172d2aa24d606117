import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHarness } from "everstep/testing";
import { order } from "./order.ts";

test("an order is shipped after the cool-off", async () => {
  const harness = createTestHarness({ workflows: { ORDER: order } });
  const instance = await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 42 } });

  await harness.runUntilIdle();
  assert.deepEqual(await harness.steps("order-1"), ["charge completed", "cool-off waiting"]);

  await harness.advance("5 seconds");
  assert.deepEqual(await instance.status(), { status: "complete", output: { chargeId: "ch-1" } });
  await harness.stop();
});
