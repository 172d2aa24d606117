/** Workflows as a fragment of a host: bindings, services, routes and a tick for the host's scheduler. */
import assert from "node:assert/strict";

// #region fragment
import { refuse, systemRuntime } from "everstep";
import {
  createWorkflowsFragment,
  defineWorkflow,
  fragnoRuntime,
  type WorkflowEvent,
  type WorkflowStep,
} from "everstep/fragment";
import { sqlite } from "everstep/sqlite";

const billing = defineWorkflow(
  { name: "billing" },
  async (event: WorkflowEvent<{ orderId: string }>, step: WorkflowStep) => {
    const charge = await step.do("charge", async () => ({ order: event.payload.orderId, cents: 4200 }));
    await step.waitForEvent("approval", { type: "approval", timeout: "24 hours" });
    return charge;
  },
);

const fragment = createWorkflowsFragment(
  {
    workflows: { BILLING: billing },
    runtime: fragnoRuntime(systemRuntime),
    authorizeRequest({ request }) {
      if (request.headers.get("x-api-key") !== "secret") return refuse(401, "Send your x-api-key.");
    },
    authorizeRunnerTick() {}, // callers that passed authorizeRequest may tick
  },
  { store: sqlite("app.db"), mountRoute: "/api/workflows" },
);
// #endregion fragment

// #region use
const instance = await fragment.workflows.BILLING.create({ id: "o-1", params: { orderId: "o-1" } });
await fragment.runner.tick();
await fragment.services.sendEvent("billing", "o-1", { type: "approval" });
await fragment.runner.tick();
const { output } = await instance.status();
// #endregion use
assert.deepEqual(output, { order: "o-1", cents: 4200 });

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fragment.handler(
    new Request(`http://host${fragment.mountRoute}${path}`, { headers: { "x-api-key": "secret" }, ...init }),
  );
assert.equal((await ask("/workflows", { headers: {} })).status, 401);
assert.deepEqual(await (await ask("/workflows")).json(), { workflows: [{ name: "billing" }] });
assert.deepEqual(await (await ask("/_runner/tick", { method: "POST" })).json(), { processed: 0 });
await fragment.stop();
