/** A workflow on MySQL or MariaDB. Needs a server: give its address in MYSQL_URL. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { mysql } from "everstep/mysql";

// #region options
const store = mysql({
  url: process.env.MYSQL_URL ?? "mysql://app:secret@localhost:3306/app",
  namespace: "everstep", // the tables are everstep_instance, everstep_run, ...
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
