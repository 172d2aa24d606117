/** Rule 5: keep results small and plain. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const files = new Map<string, Uint8Array>();
const render = async () => new Uint8Array(2_000_000);
const storage = {
  async put(key: string, bytes: Uint8Array) {
    files.set(key, bytes);
  },
};

const wrong = defineWorkflow({ name: "wrong" }, async (_event, step) => step.do("render", () => render()));

// #region right
const brochure = defineWorkflow({ name: "brochure" }, async (event, step) => {
  const key = await step.do("render", async () => {
    const key = `brochures/${event.instanceId}.pdf`;
    await storage.put(key, await render());
    return key; // a reference, not two megabytes
  });
  return { key };
});
// #endregion right

const harness = createTestHarness({ workflows: { WRONG: wrong, BROCHURE: brochure } });
await harness.workflows.WRONG.create({ id: "too-large" });
await harness.workflows.BROCHURE.create({ id: "spring" });
await harness.runUntilIdle();
assert.equal((await harness.status("too-large")).error?.code, "PAYLOAD_TOO_LARGE");
assert.deepEqual((await harness.status("spring")).output, { key: "brochures/spring.pdf" });
assert.equal(files.size, 1);
await harness.stop();
