/** Steps inside a step: when the outer one is tried again, what is done inside it stays done. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const uploads: string[] = [];
const upload = async (part: string) => void uploads.push(part);
let isReachable = false;
const finish = async () => {
  if (!isReachable) throw new Error("the archive is out of reach");
};

// #region workflow
const archive = defineWorkflow({ name: "archive" }, async (_event, step) => {
  await step.do("upload", { retries: { limit: 5, delay: "1 minute", backoff: "constant" } }, async () => {
    await step.do("part 1", async () => upload("part 1"));
    await step.do("part 2", async () => upload("part 2"));
    await finish(); // if this throws, only this is repeated
  });
});
// #endregion workflow

const harness = createTestHarness({ workflows: { ARCHIVE: archive } });
await harness.workflows.ARCHIVE.create({ id: "archive-1" });
await harness.advance("2 minutes");
isReachable = true;
await harness.advance("1 minute");
assert.deepEqual(await harness.steps("archive-1"), [
  "upload completed",
  "upload/part 1 completed",
  "upload/part 2 completed",
]);
assert.deepEqual(uploads, ["part 1", "part 2"]);
await harness.stop();
