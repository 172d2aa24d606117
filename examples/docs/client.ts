/** An app that is served elsewhere, used through its client. */
import assert from "node:assert/strict";
import { bearerToken, createWorkflows, defineWorkflow, type WorkflowEvent } from "everstep";
// #region create
import { createClient, EverstepError } from "everstep/client";
// #endregion create
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";

const token = "a-token-for-the-documentation";
const order = defineWorkflow(
  { name: "order" },
  async (event: WorkflowEvent<{ userId: number }>, step): Promise<{ approvedBy: string }> => {
    await step.do("charge", async () => `ch-${event.payload.userId}`);
    await step.log.info("charged");
    const approval = await step.waitForEvent<{ by: string }>("approval", { type: "approved" });
    return { approvedBy: approval.payload.by };
  },
);
const app = createWorkflows({
  workflows: { ORDER: order },
  store: sqlite("app.db"),
  authorize: bearerToken(token),
});
await app.start();
const server = await serve(app, { port: 0 });
const { url } = server;

// #region orders
const client = createClient({ url, headers: { authorization: `Bearer ${token}` } });
const orders = client.workflow<typeof order>("order");

const instance = await orders.create({ id: "o-1", params: { userId: 7 }, ifExists: "return" });
await instance.sendEvent({ type: "approved", payload: { by: "kim" } });
const { status, output } = await instance.result({ timeout: "1 minute" });
console.log(status, output?.approvedBy); // complete kim
// #endregion orders
assert.deepEqual([status, output], ["complete", { approvedBy: "kim" }]);

// #region look
const { instances } = await orders.list({ status: ["active", "waiting"], pageSize: 50 });
const counts = await client.counts("order");
const { answer } = await orders.get("o-1").why(); // get asks nothing; why does
console.log(instances.length, counts.complete, answer);
// #endregion look
assert.deepEqual([instances.length, counts.complete], [0, 1]);
assert.match(answer, /^It completed/);

const second = await orders.create({ id: "o-2", params: { userId: 8 } });
// #region watch
for await (const { details, steps } of second.watch()) {
  console.log(details.status, steps.map((step) => `${step.name} ${step.status}`).join(", "));
  if (details.status === "waiting") await second.sendEvent({ type: "approved", payload: { by: "ann" } });
  if (details.status === "complete") break;
}
for await (const line of second.followLogs({ level: "info" })) console.log(line.message);
// #endregion watch

// #region problems
try {
  await orders.get("nobody").pause();
} catch (problem) {
  if (!(problem instanceof EverstepError)) throw problem;
  console.log(problem.code, problem.details?.status); // INSTANCE_NOT_FOUND 404
}
// #endregion problems
await assert.rejects(orders.get("nobody").pause(), { code: "INSTANCE_NOT_FOUND" });

// #region settings
const patient = createClient({
  url: "https://example.com/api/workflows",
  headers: async () => ({ authorization: `Bearer ${await freshToken()}` }), // asked before every try
  timeout: "15 seconds",
  retries: 2,
  retryDelay: "500 ms",
  fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
});
// #endregion settings
async function freshToken(): Promise<string> {
  return token;
}
assert.equal(typeof patient.workflows, "function");

await server.close();
await app.stop();
