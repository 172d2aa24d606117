import { defineWorkflow, NonRetryableError } from "everstep";

export interface OrderParams {
  readonly userId: string;
  readonly amount: number;
}

/** What the workflow needs from the world; a test hands in its own. */
export interface Shop {
  findUser(id: string): Promise<{ readonly id: string; readonly name: string } | null>;
  /** `key` is the same on every attempt, so the payment service can tell a repetition from a new charge. */
  charge(userId: string, amount: number, key: string): Promise<{ readonly chargeId: string }>;
}

/** Load the user, charge, cool off for an hour, then wait up to three days for an approval. */
export const defineOrder = (shop: Shop) =>
  defineWorkflow({ name: "order" }, async (event: { readonly payload: OrderParams }, step) => {
    const { userId, amount } = event.payload;

    const user = await step.do("load user", async () => {
      const found = await shop.findUser(userId);
      if (!found) throw new NonRetryableError(`There is no user ${userId}.`);
      return found;
    });

    const { chargeId } = await step.do(
      "charge",
      { retries: { limit: 3, delay: "10 seconds", backoff: "exponential" }, timeout: "30 seconds" },
      ({ idempotencyKey }) => shop.charge(user.id, amount, idempotencyKey),
    );

    await step.sleep("cool-off", "1 hour");

    const approval = await step.waitForEvent<{ readonly by: string }>("approval", {
      type: "approved",
      timeout: "3 days",
    });

    await step.log.info("order approved", { chargeId, by: approval.payload.by });
    return { chargeId, approvedBy: approval.payload.by };
  });
