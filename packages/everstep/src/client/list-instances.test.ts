import { afterEach, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { ListOptions } from "../handles/options.ts";
import { memory } from "../stores/memory/index.ts";
import { createTestHarness, type TestHarness } from "../testing/harness.ts";

const nap = defineWorkflow({ name: "nap" }, async (_event, step) => step.sleep("nap", "1 hour"));
const quick = defineWorkflow({ name: "quick" }, async () => "done");
const workflows = { NAP: nap, QUICK: quick };

const open: TestHarness<typeof workflows>[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.stop();
});

/** One instance a minute: a-1, b-2, a-3, b-4; those of a nap, those of b are over and told of. */
async function tell() {
  const harness = createTestHarness({ workflows, store: memory(), hooks: { onEnded: () => {} } });
  open.push(harness);
  const times: Date[] = [];
  for (const id of ["a-1", "b-2", "a-3", "b-4"]) {
    const workflow = id.startsWith("a") ? harness.workflows.NAP : harness.workflows.QUICK;
    times.push((await (await workflow.create({ id })).details()).createdAt);
    await harness.runUntilIdle();
    await harness.clock.advance("1 minute");
  }
  return { app: harness.app, times };
}

test("instances are listed by when they were created, given as a Date or in milliseconds", async () => {
  const { app, times } = await tell();
  const ids = async (options: ListOptions) => (await app.list(options)).items.map(({ id }) => id);
  const [, second, , fourth] = times as [Date, Date, Date, Date];
  expect(await ids({ createdFrom: second })).toEqual(["b-4", "a-3", "b-2"]);
  expect(await ids({ createdFrom: second.getTime() })).toEqual(["b-4", "a-3", "b-2"]);
  expect(await ids({ createdBefore: second })).toEqual(["a-1"]);
  expect(await ids({ createdFrom: second, createdBefore: fourth.getTime(), order: "asc" })).toEqual([
    "b-2",
    "a-3",
  ]);
  const napping = await app.workflows.NAP.list({ createdFrom: second });
  expect(napping.items.map(({ id }) => id)).toEqual(["a-3"]);
});

test("instances are listed by how their ids begin, without those of the engine", async () => {
  const { app } = await tell();
  const ids = async (options: ListOptions) => (await app.list(options)).items.map(({ id }) => id);
  expect(await ids({ idPrefix: "a-" })).toEqual(["a-3", "a-1"]);
  expect(await ids({ idPrefix: "A-" })).toEqual([]);
  expect(await ids({ idPrefix: "" })).toEqual(["b-4", "a-3", "b-2", "a-1"]);
  const paged = await app.list({ idPrefix: "a-", pageSize: 1 });
  expect(paged.items.map(({ id }) => id)).toEqual(["a-3"]);
  expect(await ids({ idPrefix: "a-", cursor: paged.cursor as string })).toEqual(["a-1"]);
});

test("a page is full of instances though the newest are the engine's own", async () => {
  const harness = createTestHarness({ workflows, store: memory(), hooks: { onEnded: () => {} } });
  open.push(harness);
  for (let n = 0; n < 12; n++) await harness.workflows.NAP.create({ id: `n-${n}` });
  await harness.runUntilIdle();
  await harness.clock.advance("1 hour");
  await harness.runUntilIdle();
  for (const brief of [true, false]) {
    const first = await harness.app.list({ pageSize: 5, brief });
    expect(first.items).toHaveLength(5);
    const { cursor } = first;
    const second = await harness.app.list({ pageSize: 7, brief, cursor });
    const ids = [...first.items, ...second.items].map(({ id }) => id);
    expect(new Set(ids).size).toBe(12);
    expect(second.hasNextPage).toBe(false);
  }
});

test("what is no time and no beginning of an id is refused in words that say what is right", async () => {
  const { app } = await tell();
  for (const [options, words] of [
    [{ createdFrom: "yesterday" }, "createdFrom is yesterday; it must be a Date or"],
    [{ createdBefore: new Date("nonsense") }, "createdBefore is an invalid Date; it must be a Date or"],
    [{ createdBefore: {} }, "createdBefore is an object; it must be a Date or"],
    [{ idPrefix: 7 }, "idPrefix is a number; it must be the beginning of an id"],
    [
      { idPrefix: "x".repeat(999) },
      "idPrefix is a text of 999 characters; it must be the beginning of an id",
    ],
  ] as const) {
    const refused = app.list(options as never);
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(refused).rejects.toThrow(words);
  }
});
