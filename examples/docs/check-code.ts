/** The next build, held against the instances that are under way. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow, type ReplayFinding } from "everstep";
import { sqlite } from "everstep/sqlite";

const now = defineWorkflow({ name: "order" }, async (_event, step) => {
  const charge = await step.do("charge", async () => "ch-1");
  await step.waitForEvent("paid", { type: "paid" });
  return charge;
});

const running = createWorkflows({ workflows: { ORDER: now }, store: sqlite("app.db") });
const instance = await running.workflows.ORDER.create({ id: "order-1" });
await running.start();
while ((await instance.status()).status !== "waiting") await new Promise((wake) => setTimeout(wake, 5));

// #region next
const next = defineWorkflow({ name: "order" }, async (_event, step) => {
  const charge = await step.do("charge card", async () => "ch-1"); // was "charge"
  await step.waitForEvent("paid", { type: "paid" });
  return charge;
});
// #endregion next

// #region check
const app = createWorkflows({ workflows: { ORDER: next }, store: sqlite("app.db") });
const report = await app.check();
console.log(report.summary);
for (const { instanceId, classification, message } of report.findings) {
  console.log(`${instanceId}: ${classification}. ${message}`);
}
if (!report.ok) process.exitCode = 1; // not deployed
await app.stop();
// #endregion check

assert.equal(report.counts.orphaned, 1);
assert.deepEqual(report.findings[0]?.newSteps, ["charge card"]);
assert.equal(process.exitCode, 1);
process.exitCode = 0;

// #region pages
const findings: ReplayFinding[] = [];
let after: string | undefined;
do {
  const page = await running.check({ workflows: { ORDER: next }, limit: 5000, ...(after && { after }) });
  findings.push(...page.findings);
  after = page.after;
} while (after);
// #endregion pages

assert.equal(findings.length, 1);
await running.stop();
