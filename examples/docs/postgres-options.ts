/** A workflow on PostgreSQL. Needs a server: give its address in DATABASE_URL. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { postgres } from "everstep/postgres";

// #region options
const store = postgres({
  url: process.env.DATABASE_URL ?? "postgres://app:secret@localhost:5432/app",
  namespace: "everstep", // the schema that holds the tables
  max: 10, // connections for work
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
