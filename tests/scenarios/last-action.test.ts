/** What was done to an instance last, and by whom, as `why` and the log tell it. */
import { createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import type { Store } from "everstep/store";
import { expect, test } from "vitest";

type LogQuery = Parameters<Store["listLogs"]>[1];
type Lines = Awaited<ReturnType<Store["listLogs"]>>;

const talker = defineWorkflow({ name: "talker" }, async (_event, step) => {
  await step.sleep("nap", "1 day");
  for (let n = 0; n < 300; n++) step.log.info(`line ${n}`);
  await step.waitForEvent("go", { type: "go" });
});

async function begin(shown: (page: Lines, query: LogQuery) => Lines = (page) => page) {
  const store = memory();
  const { listLogs } = store;
  store.listLogs = async (runId, query) => shown(await listLogs.call(store, runId, query), query);
  const app = createWorkflows({ workflows: { talker }, store });
  const instance = await app.workflows.talker.create({ id: "t" });
  while ((await app.tick()).processed > 0);
  return { app, instance };
}

test("nobody is named for what somebody unknown did, and every action has its line", async () => {
  const { app, instance } = await begin();
  await instance.pause({ actor: "ann" });
  expect(await instance.why()).toMatchObject({
    answer: expect.stringMatching(/^ann paused it/),
    lastAction: { action: "pause", actor: "ann", text: "Paused by ann." },
  });
  await instance.resume();
  expect((await instance.why()).lastAction).toMatchObject({
    action: "resume",
    actor: null,
    text: "Resumed.",
  });
  await instance.pause();
  expect(await instance.why()).toMatchObject({
    answer: expect.stringMatching(/^Somebody paused it/),
    lastAction: { action: "pause", actor: null, text: "Paused." },
  });
  await instance.pause();
  await instance.resume();
  await instance.skipSleep();
  while ((await app.tick()).processed > 0);
  const { items } = await instance.logs({ category: "operator" });
  expect(items.map(({ message }) => message)).toEqual([
    "Paused by ann.",
    "Resumed.",
    "Paused.",
    "Resumed.",
    "Sleep skipped.",
  ]);
});

test("why looks at the newest lines only, however many there are", async () => {
  const asked: LogQuery[] = [];
  const { app, instance } = await begin((page, query) => {
    asked.push(query);
    return page;
  });
  await instance.skipSleep();
  while ((await app.tick()).processed > 0);
  asked.length = 0;
  expect((await instance.why()).reason).toBe("waiting-for-event");
  // A filter would go through all of them.
  expect(asked).toEqual([{ order: "desc", limit: 100 }]);
});

test("one damaged line does not keep why from its answer", async () => {
  const { instance } = await begin((page) => ({
    ...page,
    items: page.items.map((line) => ({ ...line, data: "{" as never })),
  }));
  await instance.pause({ actor: "ann" });
  expect(await instance.why()).toMatchObject({
    reason: "paused",
    lastAction: { actor: null, text: "Paused by ann." },
  });
});
