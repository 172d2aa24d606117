/** One process creates and asks, another one runs; both have the same file. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const double = defineWorkflow({ name: "double" }, async (event, step) =>
  step.do("double", async () => event.payload.n * 2),
);
const worker = createWorkflows({ workflows: { DOUBLE: double }, store: sqlite("app.db") });
await worker.start();

// #region web
// In the web process: the same workflows and file, without start(). It creates and asks; others run.
const web = createWorkflows({ workflows: { DOUBLE: double }, store: sqlite("app.db") });
const instance = await web.workflows.DOUBLE.create({ params: { n: 21 } });
const result = await instance.result({ timeout: "5 seconds" });
// #endregion web
assert.deepEqual(result, { status: "complete", output: 42, timedOut: false });
await web.stop();
await worker.stop();
