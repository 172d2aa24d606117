/** The harness on SQLite: every runner gets a connection of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
import { createTestHarness } from "everstep/testing";

const greet = defineWorkflow({ name: "greet" }, async (_event, step) =>
  step.do("greet", async () => "hello"),
);

test("greets", async (t) => {
  // #region sqlite
  const harness = createTestHarness({
    workflows: { GREET: greet },
    store: () => sqlite("test.db"),
    now: new Date("2026-07-01T12:00:00Z"),
    seed: 7,
  });
  t.after(() => harness.stop());
  // #endregion sqlite
  const instance = await harness.workflows.GREET.create();
  await harness.runner("other").tick();
  assert.deepEqual(await instance.status(), { status: "complete", output: "hello" });
  assert.equal((await instance.details()).createdAt.toISOString(), "2026-07-01T12:00:00.000Z");
});
