/** Who runs on a store, and how much gets done there. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const hello = defineWorkflow({ name: "hello" }, async (_event, step) => step.do("greet", async () => "hi"));
const app = createWorkflows({ workflows: { hello }, store: sqlite("app.db") });
await app.start();
await (await app.workflows.hello.create()).result();

// #region who-runs
for (const { host, pid, state, turns, seenAt } of await app.runners()) {
  console.log(`${host} ${pid}: ${state}, ${turns} turns in progress, heard of ${seenAt.toISOString()}`);
}
const { buckets } = await app.activity({ minutes: 60, workflowName: "hello" });
const complete = buckets.reduce((sum, bucket) => sum + bucket.complete, 0);
console.log(`${complete} instances of the last hour are complete`);
// #endregion who-runs
assert.equal((await app.runners())[0]?.state, "running");
assert.equal(buckets.length, 60);
await app.stop();
