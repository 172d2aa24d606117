import { afterEach, describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createTestHarness, type TestHarness } from "../testing/harness.ts";
import type { VerifyOptions } from "./verify-app.ts";

const nap = defineWorkflow({ name: "nap" }, async (_event, step) => step.sleep("nap", "1 hour"));
const other = defineWorkflow({ name: "other" }, async () => "done");
const workflows = { NAP: nap, OTHER: other };

const open: TestHarness<typeof workflows>[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.stop();
});

async function tell(store = memory()): Promise<TestHarness<typeof workflows>> {
  const harness = createTestHarness({ workflows, store, hooks: { onEnded: () => {} } });
  open.push(harness);
  for (const id of ["n-1", "n-2", "n-3"]) await harness.workflows.NAP.create({ id });
  await harness.workflows.OTHER.create({ id: "o-1" });
  await harness.runUntilIdle();
  return harness;
}

test("an app audits its store, tellings of hooks included", async () => {
  const { app } = await tell();
  expect(await app.verify()).toMatchObject({ ok: true, checked: 5, warnings: [], complete: true });
});

test("what became due and was not run is a warning once it is late enough", async () => {
  const harness = await tell();
  await harness.clock.advance("63 minutes");
  expect((await harness.app.verify()).warnings).toEqual([]);
  await harness.clock.advance("3 minutes");
  expect((await harness.app.verify()).warnings.map(({ kind }) => kind)).toEqual([
    "overdue",
    "overdue",
    "overdue",
  ]);
  expect((await harness.app.verify({ overdue: "1 hour" })).warnings).toEqual([]);
});

test("a cursor goes on where its own list ended, and nowhere else", async () => {
  const { app } = await tell();
  const { after, checked } = await app.verify({ workflowName: "nap", limit: 2 });
  expect(checked).toBe(2);
  expect(await app.verify({ workflowName: "nap", after: after as string })).toMatchObject({
    checked: 1,
    complete: true,
  });
  await expect(app.verify({ after: after as string })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
});

test("whoever listens to its progress cannot disturb it", async () => {
  const { app } = await tell();
  const onProgress = () => {
    throw new Error("not interested");
  };
  expect(await app.verify({ onProgress })).toMatchObject({ checked: 5 });
});

test("a store that fails for a moment is asked again", async () => {
  const faulty = createFaultyStore(memory());
  const harness = await tell(faulty as never);
  for (const verb of ["listInstances", "listEvents", "listSteps", "getInstance"] as const) {
    faulty.fail(verb, "conflict");
    const audit = harness.app.verify();
    await harness.clock.advance("1 second");
    expect(await audit).toMatchObject({ ok: true, checked: 5 });
  }
});

describe("what cannot be meant", () => {
  test.each<[string, VerifyOptions]>([
    ["a limit of none", { limit: 0 }],
    ["a limit that is no number of instances", { limit: 1.5 }],
    ["a sample of nothing", { sample: 0 }],
    ["a sample of more than there is", { sample: 2 }],
    ["a status nobody has", { statuses: ["running" as never] }],
    ["no status at all", { statuses: [] }],
  ])("%s is refused", async (_name, options) => {
    const { app } = await tell();
    await expect(app.verify(options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("an app that was stopped says so", async () => {
    const { app } = await tell();
    await app.stop();
    await expect(app.verify()).rejects.toMatchObject({ code: "APP_STOPPED" });
  });
});
