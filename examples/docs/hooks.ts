/** Being told of runs that ended, at least once. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";

const told: string[] = [];
const notify = async (text: string, _options: { key: string }) => void told.push(text);
const order = defineWorkflow({ name: "order" }, async (_event, step) =>
  step.do("charge", async () => "charged"),
);

// #region hooks
const app = createWorkflows({
  workflows: { ORDER: order },
  store: memory(),
  hooks: {
    async onEnded({ id, workflowName, instanceId, runNumber, status }) {
      await notify(`${workflowName} ${instanceId}, run ${runNumber}: ${status}`, { key: id });
    },
    async onRestarted({ id, workflowName, instanceId, runNumber }) {
      await notify(`${workflowName} ${instanceId} begins again after run ${runNumber}`, { key: id });
    },
  },
});
// #endregion hooks

await app.start();
const instance = await app.workflows.ORDER.create({ id: "o-1" });
const lines = async (count: number) => {
  while (told.length < count) await new Promise((wake) => setTimeout(wake, 5));
  return told.toSorted();
};
assert.deepEqual(await lines(1), ["order o-1, run 1: complete"]);
await instance.restart();
assert.deepEqual(await lines(3), [
  "order o-1 begins again after run 1",
  "order o-1, run 1: complete",
  "order o-1, run 2: complete",
]);
await app.stop();
