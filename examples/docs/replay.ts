/** A process ends while a workflow sleeps; the next one replays it. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const said: string[] = [];
const say = (line: string) => void said.push(line);

// #region workflow
const report = defineWorkflow({ name: "report" }, async (_event, step) => {
  say("from the top");
  const rows = await step.do("load rows", async () => {
    say("loading");
    return 3;
  });
  await step.sleep("overnight", "8 hours");
  await step.do("send", async () => say(`sending ${rows} rows`));
});
// #endregion workflow

const harness = createTestHarness({ workflows: { REPORT: report } });
await harness.workflows.REPORT.create({ id: "monday" });
await harness.runUntilIdle();
assert.deepEqual(said, ["from the top", "loading"]);

await harness.restartRunner();
await harness.advance("8 hours");
assert.deepEqual(said, ["from the top", "loading", "from the top", "sending 3 rows"]);
await harness.stop();
