/** A host without a loop: something calls it now and then. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const import_ = defineWorkflow({ name: "import" }, async (_event, step) => {
  for (let page = 1; page <= 3; page++) await step.do(`page ${page}`, async () => page);
});
const app = createWorkflows({ workflows: { IMPORT: import_ }, store: sqlite("app.db") });
const instance = await app.workflows.IMPORT.create({ id: "import-1" });

// #region tick
/** Called every minute by a cron job, or by a request. */
async function onSchedule(): Promise<number> {
  const { processed } = await app.tick({ maxInstances: 20, maxSteps: 2 });
  return processed;
}
// #endregion tick

assert.equal(await onSchedule(), 1);
assert.deepEqual(
  (await instance.history()).steps.map(({ name }) => name),
  ["page 1", "page 2"],
);
assert.equal(await onSchedule(), 1);
assert.equal((await instance.status()).status, "complete");
assert.equal(await onSchedule(), 0);
await app.stop();
