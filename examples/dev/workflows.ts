/** What `npm start` runs with `everstep dev`. Change it while it runs: the new code is loaded without anything running twice. */
import { defineWorkflow } from "everstep";
import { ledgerOf } from "./ledger.ts";
import { crashParams, orderParams } from "./params.ts";
import { bank, takesTime, warehouse } from "./shop.ts";

/** Retries, a sleep, and a person whose approval it waits for: the event "approved". */
export const order = defineWorkflow({ name: "order", params: orderParams }, async ({ payload }, step) => {
  const { item = "book", amount = 20 } = payload ?? {};
  await step.do("reserve", () => warehouse.reserve(item));
  // The bank fails twice. Only this step is tried again.
  const chargeId = await step.do(
    "charge",
    { retries: { limit: 5, delay: "1 second", backoff: "constant" } },
    (ctx) => bank.charge(amount, ctx),
  );
  await step.sleep("cool off", "3 seconds");
  const { payload: approval } = await step.waitForEvent<{ by?: string } | null>("approval", {
    type: "approved",
    timeout: "1 hour",
  });
  await step.do("ship", () => warehouse.ship(item));
  return { chargeId, approvedBy: approval?.by ?? "somebody" };
});

/**
 * Kill the process in the middle with the dashboard's button or the command that it prints, or let it do that itself with
 * the params { "crash": true }. It goes on in the next process, and its output says what ran where, and how often.
 */
export const crashDemo = defineWorkflow(
  { name: "crash-demo", params: crashParams },
  async ({ payload, instanceId }, step) => {
    const ledger = ledgerOf(instanceId);
    for (const task of ["pick", "pack", "label", "ship", "invoice"]) {
      await step.do(task, async (ctx) => {
        ledger.note("began", ctx);
        await takesTime(ctx);
        if (payload?.crash && task === "label" && ctx.attempt === 1) process.kill(process.pid, "SIGKILL");
        ledger.note("did", ctx);
      });
    }
    return step.do("look back", (ctx) => ledger.summary(ctx));
  },
);
