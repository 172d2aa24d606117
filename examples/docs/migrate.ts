/** What a migration would do, and then doing it. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createWorkflows } from "everstep";
import { sqlite } from "everstep/sqlite";

const app = createWorkflows({ workflows: {}, store: sqlite("app.db") });

// #region migrate
const plan = await app.migrate({ plan: true }); // changes nothing
console.log(`version ${plan.from} -> ${plan.to}`);
for (const statement of plan.statements) console.log(`${statement};`);
// #endregion migrate
assert.equal(existsSync("app.db"), false);
assert.deepEqual(await app.migrate(), plan);
await app.stop();
