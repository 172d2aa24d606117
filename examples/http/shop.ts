/** The workflows that the examples serve. */
import { defineWorkflow, type WorkflowEvent } from "everstep";

interface Order {
  readonly userId: number;
  readonly card?: "good" | "expired";
}

/** Charges, waits for an approval, cools off. */
export const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<Order>, step) => {
  const charge = await step.do("charge", { retries: { limit: 1, delay: "1 second" } }, async () => {
    if (event.payload.card === "expired") throw new Error("The card has expired.");
    return { chargeId: `ch-${event.instanceId}` };
  });
  await step.log.info("charged", charge, { category: "payment" });
  const approval = await step.waitForEvent<{ by: string }>("approval", {
    type: "approved",
    timeout: "1 week",
  });
  await step.sleep("cool-off", "2 days");
  return { ...charge, approvedBy: approval.payload.by };
});

/** Waits for the warehouse. */
export const delivery = defineWorkflow({ name: "delivery" }, async (_event, step) => {
  const opening = await step.waitForEvent<{ city: string }>("opening", {
    topic: "warehouse.open",
    timeout: "30 days",
  });
  return { from: opening.payload.city };
});
