/**
 * The workflow of the demo: an ordinary async function. What a step returned is recorded before the next one begins.
 * When the process dies, another one runs the function from the top: recorded steps answer at once, the others run.
 */
import { defineWorkflow } from "everstep";
import { bank, carrier, mail, seconds, warehouse } from "./shop.ts";

export interface Order {
  readonly orderId: string;
  readonly parcels: readonly string[];
}

export const fulfilOrder = defineWorkflow<Order>({ name: "fulfil-order" }, async ({ payload }, step) => {
  const { orderId, parcels } = payload;

  await step.do("reserve stock", (ctx) => warehouse.reserve(ctx, parcels));

  // The bank fails at first. Only this step is tried again.
  const payment = await step.do("charge card", { retries: { limit: 3, delay: seconds(1) } }, (ctx) =>
    bank.charge(ctx, orderId),
  );

  for (const parcel of parcels) {
    await step.do(`pack parcel ${parcel}`, (ctx) => warehouse.pack(ctx, parcel));
    await step.do(`print label ${parcel}`, (ctx) => carrier.printLabel(ctx, parcel));
  }

  // Nobody has to be alive while it sleeps or waits: the times are written down.
  await step.sleep("wait for carrier", seconds(3));
  const pickUp = await step.waitForEvent<{ driver: string }>("hand over", {
    type: "picked-up",
    timeout: "1 hour",
  });

  const invoice = await step.do("send invoice", (ctx) => mail.sendInvoice(ctx, payment));
  await step.do("close order", (ctx) => warehouse.close(ctx, orderId));
  return { orderId, payment, invoice, driver: pickUp.payload.driver };
});
