/** A workflow on Redis. Needs a server: give its address in REDIS_URL. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { redis } from "everstep/redis";

// #region options
const store = redis({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  namespace: "everstep", // every key begins with {everstep}
});
// #endregion options
const double = defineWorkflow({ name: "double" }, async (event, step) =>
  step.do("double", async () => event.payload.n * 2),
);
const app = createWorkflows({ workflows: { DOUBLE: double }, store, onProblem: () => {} });
await app.start();
const instance = await app.workflows.DOUBLE.create({ params: { n: 21 } });
assert.deepEqual(await instance.result(), { status: "complete", output: 42, timedOut: false });
await app.stop();
