/** The author's own rows, written in the transaction that records the step. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { createWorkflows, defineWorkflow, EverstepError, type WorkflowEvent } from "everstep";
import { sqlite } from "everstep/sqlite";

const quote = async (sku: string) => {
  if (sku === "unknown") throw new Error("nobody sells this");
  return 42;
};

// #region table
const shop = new DatabaseSync("shop.db");
shop.exec(`CREATE TABLE IF NOT EXISTS orders
  (id TEXT PRIMARY KEY, sku TEXT NOT NULL, price INTEGER, state TEXT NOT NULL)`);
// #endregion table

// #region workflow
const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ sku: string }>, step) => {
  const { instanceId, payload } = event;
  await step.do("quote", { retries: { limit: 1, delay: "10 ms" } }, async (tx) => {
    tx.onTerminalError.mutate((db: DatabaseSync) =>
      db.prepare("INSERT INTO orders VALUES (?, ?, NULL, 'failed')").run(instanceId, payload.sku),
    );
    const price = await quote(payload.sku);
    tx.mutate((db: DatabaseSync) =>
      db.prepare("INSERT INTO orders VALUES (?, ?, ?, 'quoted')").run(instanceId, payload.sku, price),
    );
    return price;
  });
  await step.waitForEvent("payment", {
    type: "paid",
    onConsume: (_paid, tx) => {
      tx.mutate((db: DatabaseSync) =>
        db.prepare("UPDATE orders SET state = 'paid' WHERE id = ?").run(instanceId),
      );
    },
  });
});
// #endregion workflow

// #region unique
const claimName = defineWorkflow(
  { name: "claim-name" },
  async (event: WorkflowEvent<{ id: string }>, step) => {
    try {
      await step.do("insert", async (tx) => {
        tx.mutate((db: DatabaseSync) =>
          db.prepare("INSERT INTO orders VALUES (?, 'none', 0, 'claimed')").run(event.payload.id),
        );
      });
      return "yours";
    } catch (error) {
      if (error instanceof EverstepError && error.code === "MUTATION_CONFLICT") return "taken";
      throw error;
    }
  },
);
// #endregion unique

const app = createWorkflows({ workflows: { ORDER: order, CLAIM_NAME: claimName }, store: sqlite("shop.db") });
await app.start();
const rows = () =>
  shop
    .prepare("SELECT id, price, state FROM orders ORDER BY id")
    .all()
    .map(({ id, price, state }) => [id, price, state]);

const good = await app.workflows.ORDER.create({ id: "good", params: { sku: "lamp" } });
await good.sendEvent({ type: "paid" });
assert.equal((await good.result()).status, "complete");
assert.deepEqual(rows(), [["good", 42, "paid"]]);

const bad = await app.workflows.ORDER.create({ id: "bad", params: { sku: "unknown" } });
assert.equal((await bad.result()).status, "errored");
assert.deepEqual(rows(), [
  ["bad", null, "failed"],
  ["good", 42, "paid"],
]);

const taken = await app.workflows.CLAIM_NAME.create({ params: { id: "good" } });
assert.equal((await taken.result()).output, "taken");
assert.equal((await taken.history()).steps[0]?.attempts, 1);
await app.stop();
