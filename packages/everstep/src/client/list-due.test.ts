import { afterEach, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createTestHarness, type TestHarness } from "../testing/harness.ts";

const nap = defineWorkflow({ name: "nap" }, async (_event, step) => step.sleep("nap", "1 hour"));
const flaky = defineWorkflow({ name: "flaky" }, async (_event, step) =>
  step.do("call", { retries: { limit: 3, delay: "10 minutes" } }, () => {
    throw new Error("not today");
  }),
);
const quick = defineWorkflow({ name: "quick" }, async () => "done");
const workflows = { NAP: nap, FLAKY: flaky, QUICK: quick };

const open: TestHarness<typeof workflows>[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.stop();
});

function harness(): TestHarness<typeof workflows> {
  const told = createTestHarness({ workflows, store: memory(), hooks: { onEnded: () => {} } });
  open.push(told);
  return told;
}

test("what is due, and what will be until some time, is listed soonest first and says why", async () => {
  const story = harness();
  const { app, workflows: handles } = story;
  const sleeper = await handles.NAP.create({ id: "sleeper" });
  const failing = await handles.FLAKY.create({ id: "failing" });
  await story.runUntilIdle();
  await handles.QUICK.create({ id: "new" });
  const wakeAt = (await sleeper.details()).dueAt as Date;
  const retryAt = (await failing.details()).dueAt as Date;
  expect(await app.due()).toMatchObject([
    { workflowName: "quick", instanceId: "new", runNumber: 1, kind: "run" },
  ]);
  const [first, ...later] = await app.due({ before: wakeAt });
  expect(first?.kind).toBe("run");
  expect(later).toEqual([
    { workflowName: "flaky", instanceId: "failing", runNumber: 1, kind: "retry", dueAt: retryAt },
    { workflowName: "nap", instanceId: "sleeper", runNumber: 1, kind: "wake", dueAt: wakeAt },
  ]);
  expect(await app.due({ before: wakeAt.getTime(), limit: 2 })).toHaveLength(2);
});

test("however much the engine has to tell, it takes the place of nothing that is due", async () => {
  const story = harness();
  const { app, workflows: handles } = story;
  for (let n = 0; n < 9; n += 1) await (await handles.NAP.create({ id: `over-${n}` })).terminate();
  await handles.QUICK.create({ id: "new" });
  expect(await app.due({ limit: 1 })).toMatchObject([{ instanceId: "new" }]);
  await story.runUntilIdle();
  expect(await app.due()).toEqual([]);
});

test("a limit or a time that is none is refused in words that say what is right", async () => {
  const { app } = harness();
  for (const limit of [0, 1.5, 10_001, "all"] as never[]) {
    await expect(app.due({ limit })).rejects.toThrow("it must be a whole number from 1 to 10000");
  }
  await expect(app.due({ before: "soon" as never })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
