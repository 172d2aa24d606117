/** An audit of a store: nothing wrong at first, then with a row that somebody changed by hand. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { createWorkflows, defineWorkflow, type Violation } from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => "ch-1");
  return step.do("ship", async () => "shipped");
});

const running = createWorkflows({ workflows: { ORDER: order }, store: sqlite("app.db") });
await running.start();
for (const id of ["order-1", "order-2"]) {
  await (await running.workflows.ORDER.create({ id })).result();
}
assert.equal((await running.verify()).ok, true);

const database = new DatabaseSync("app.db");
database.exec("UPDATE everstep_step SET settled_index = 0 WHERE key = 'ship' AND run = 1");
database.close();

// #region audit
const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("app.db") });
const report = await app.verify();
console.log(report.summary);
for (const { workflowName, instanceId, runNumber, invariant, message } of report.violations) {
  console.log(`${workflowName} ${instanceId}, run ${runNumber}: ${invariant}. ${message}`);
}
if (!report.ok) process.exitCode = 1;
await app.stop();
// #endregion audit

assert.equal(process.exitCode, 1);
process.exitCode = 0;
assert.equal(report.violations[0]?.invariant, "INV-17");

// #region parts
const violations: Violation[] = [];
let after: string | undefined;
do {
  const part = await running.verify({ history: true, limit: 5000, ...(after && { after }) });
  violations.push(...part.violations);
  after = part.after;
} while (after);
// #endregion parts

assert.equal(violations.length, 1);
// #region sample
const { warnings } = await running.verify({ sample: 0.01, statuses: ["active", "waiting"] });
// #endregion sample
assert.deepEqual(warnings, []);
await running.stop();
