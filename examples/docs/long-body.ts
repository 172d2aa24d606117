/** A body that listens to its signal ends early when nobody waits for it any more. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";

const pages = Array.from({ length: 1000 }, (_, page) => page);
let copied = 0;
const pause = (ms: number) => new Promise((wake) => setTimeout(wake, ms));
const copyPage = async (_page: number) => {
  copied++;
  await pause(5);
};

// #region body
const copy = defineWorkflow({ name: "copy" }, async (_event, step) => {
  await step.do("copy pages", { timeout: "1 hour" }, async ({ signal }) => {
    for (const page of pages) {
      signal.throwIfAborted(); // timed out, terminated, lease lost, or the runner stops
      await copyPage(page);
    }
  });
});
// #endregion body

const app = createWorkflows({ workflows: { COPY: copy }, store: memory() });
await app.start();
const instance = await app.workflows.COPY.create({ id: "copy-1" });
await pause(30);
await instance.terminate({ reason: "not needed any more" });
await pause(20);
const before = copied;
await pause(30);
assert.ok(before > 0 && before < 1000);
assert.equal(copied, before);
assert.equal((await instance.status()).status, "terminated");
await app.stop();
