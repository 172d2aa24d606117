import { defineWorkflow, type WorkflowEvent } from "everstep";

export const order = defineWorkflow(
  { name: "order" },
  async (event: WorkflowEvent<{ amount: number }>, step) => {
    const charge = await step.do("charge", async ({ idempotencyKey }) => {
      console.log(`charging ${event.payload.amount} under the key ${idempotencyKey}`);
      return { id: "ch-1" };
    });
    await step.sleep("cool-off", "5 seconds");
    await step.do("ship", async () => console.log("shipping"));
    return { chargeId: charge.id };
  },
);
