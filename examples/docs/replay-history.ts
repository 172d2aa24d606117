/** A history leaves its store and becomes a test. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createWorkflows, defineWorkflow, replayHistory } from "everstep";
import { memory } from "everstep/memory";

const order = defineWorkflow({ name: "order" }, async (event, step) => {
  const user = await step.do("load user", async () => ({ name: "Ann", card: event.payload.card }));
  const hello = await step.do("greet", async () => `Hello, ${user.name}!`);
  return { hello };
});

const app = createWorkflows({ workflows: { ORDER: order }, store: memory() });
await app.start();
const instance = await app.workflows.ORDER.create({ id: "order-1", params: { card: "4111" } });
await instance.result();

// #region export
const history = await instance.exportHistory({
  redact: (value, where) => {
    if (where.of === "params") return { card: "hidden" };
    if (where.of === "result" && where.stepKey === "load user") return { name: "Ann", card: "hidden" };
    return value;
  },
});
writeFileSync("order-1.json", JSON.stringify(history));
// #endregion export
await app.stop();
assert.ok(!readFileSync("order-1.json", "utf8").includes("4111"));

// #region replay
const recorded = JSON.parse(readFileSync("order-1.json", "utf8"));
const { classification, asked, output, finding } = await replayHistory(recorded, order);
assert.equal(classification, "identical", finding.message);
assert.deepEqual(
  asked.map(({ name }) => name),
  ["load user", "greet"],
);
assert.deepEqual(output, { hello: "Hello, Ann!" });
// #endregion replay
