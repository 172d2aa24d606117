/** A copy of the database while it is in use, and an app on the copy. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const contract = defineWorkflow({ name: "contract" }, async (_event, step) => {
  await step.do("draw up", async () => "drawn up");
  return (await step.waitForEvent<string>("signature", { type: "signed", timeout: "30 days" })).payload;
});

const app = createWorkflows({ workflows: { CONTRACT: contract }, store: sqlite("app.db") });
await app.start();
const original = await app.workflows.CONTRACT.create({ id: "c-1" });
while ((await original.status()).status !== "waiting") await new Promise((wake) => setTimeout(wake, 5));

// #region backup
const source = new DatabaseSync("app.db");
source.exec("VACUUM INTO 'app-backup.db'");
source.close();
// #endregion backup

await app.stop();
const restored = createWorkflows({ workflows: { CONTRACT: contract }, store: sqlite("app-backup.db") });
await restored.start();
const copy = await restored.workflows.CONTRACT.get("c-1");
await copy.sendEvent({ type: "signed", payload: "kim" });
assert.deepEqual(await copy.result(), { status: "complete", output: "kim", timedOut: false });
await restored.stop();
