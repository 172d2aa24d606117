/** A class written for Cloudflare Workflows, run here. */
import assert from "node:assert/strict";
// #region program
import { createWorkflows } from "everstep";
import {
  createBinding,
  defineEntrypoint,
  type Workflow,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "everstep/cloudflare";
import { sqlite } from "everstep/sqlite";

interface Env {
  readonly ORDER: Workflow<{ userId: number }>;
  readonly CURRENCY: string;
}

class Order extends WorkflowEntrypoint<Env, { userId: number }> {
  override async run(event: WorkflowEvent<{ userId: number }>, step: WorkflowStep) {
    const price = await step.do("price", async () => `42 ${this.env.CURRENCY}`);
    const approval = await step.waitForEvent<string>("approval", { type: "approved", timeout: "1 week" });
    return { userId: event.payload.userId, price, by: approval.payload };
  }
}

const order = defineEntrypoint({ name: "order" }, Order, { env: () => env });
const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("app.db") });
const env: Env = { ORDER: createBinding(app, "ORDER"), CURRENCY: "CHF" };
await app.start();

const instance = await env.ORDER.create({ id: "o-1", params: { userId: 7 } });
await instance.sendEvent({ type: "approved", payload: "kim" });
// #endregion program
let status = await instance.status();
while (status.status !== "complete") {
  assert.ok(status.status === "running" || status.status === "waiting");
  await new Promise((wake) => setTimeout(wake, 5));
  status = await instance.status();
}
assert.deepEqual(status, { status: "complete", output: { userId: 7, price: "42 CHF", by: "kim" } });
await instance.delete();
await assert.rejects(env.ORDER.get("o-1"), /\(instance\.not_found\)/);
await app.stop();
