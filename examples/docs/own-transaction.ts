/** An instance that is created with a row of the caller's own, or not at all. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (event, step) =>
  step.do("pack", async () => `packed ${event.payload.sku}`),
);
const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("shop.db") });
await app.start();
const setUp = new DatabaseSync("shop.db");
setUp.exec("CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT NOT NULL)");
setUp.close();

// #region sqlite
const shop = new DatabaseSync("shop.db");
shop.exec("BEGIN IMMEDIATE");
shop.prepare("INSERT INTO orders VALUES (?, ?)").run("order-7", "new");
await app.workflows.ORDER.create({ id: "order-7", params: { sku: "tea" } }, { tx: shop });
shop.exec("COMMIT");
// #endregion sqlite

const instance = await app.workflows.ORDER.get("order-7");
assert.equal((await instance.result()).output, "packed tea");
shop.exec("BEGIN IMMEDIATE");
await app.workflows.ORDER.create({ id: "order-8" }, { tx: shop });
shop.exec("ROLLBACK");
await assert.rejects(app.workflows.ORDER.get("order-8"), { code: "INSTANCE_NOT_FOUND" });
shop.close();
await app.stop();
