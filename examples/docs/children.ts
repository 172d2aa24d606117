/** A step that starts other instances and a child that reports back. Both happen with the step's record or not at all. */
import assert from "node:assert/strict";
import { defineWorkflow, type WorkflowEvent } from "everstep";
import { createTestHarness } from "everstep/testing";

// #region workflows
interface Parcel {
  readonly parcel: string;
  readonly parent: string;
}

const shipment = defineWorkflow({ name: "shipment" }, async (event: WorkflowEvent<Parcel>, step) => {
  const { parcel, parent } = event.payload;
  await step.sleep("on the road", "2 days");
  await step.do("report", async (ctx) => {
    ctx.sendEvent({ workflow: "delivery", id: parent }, { type: "delivered", payload: parcel });
  });
});

const delivery = defineWorkflow({ name: "delivery" }, async (event, step) => {
  const parcels = ["A", "B"];
  await step.do("send parcels", async (ctx) => {
    for (const parcel of parcels) {
      ctx.startWorkflow(shipment, {
        id: `${event.instanceId}-${parcel}`,
        params: { parcel, parent: event.instanceId },
      });
    }
  });
  const arrived: string[] = [];
  for (const n of parcels.keys()) {
    const { payload } = await step.waitForEvent<string>(`arrival ${n}`, {
      type: "delivered",
      timeout: "1 week",
    });
    arrived.push(payload);
  }
  return arrived;
});
// #endregion workflows

const harness = createTestHarness({ workflows: { DELIVERY: delivery, SHIPMENT: shipment } });
await harness.workflows.DELIVERY.create({ id: "delivery-7" });
await harness.advance("2 days");
assert.deepEqual(await harness.status("delivery-7"), { status: "complete", output: ["A", "B"] });
const child = await harness.workflows.SHIPMENT.get("delivery-7-A");
assert.deepEqual((await child.details()).parent, { workflowName: "delivery", instanceId: "delivery-7" });
await harness.stop();
