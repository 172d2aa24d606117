/** What a step marked `sensitive: "output"` returned is for the workflow alone. */
import { type App, allowAll, createHandler, createWorkflows, defineWorkflow, replayHistory } from "everstep";
import { memory } from "everstep/testing";
import { afterEach, describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const canary = "canary-4f1d";
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop({ grace: 0 });
});

const keeper = defineWorkflow({ name: "keeper" }, async (_event, step) => {
  const secret = await step.do("ask", { sensitive: "output" }, async () => ({
    token: canary,
    at: new Date(0),
    more: [new Map([[canary, 1n]])],
  }));
  await step.do("nothing", { sensitive: "output" }, async () => undefined);
  await step.do("plain", async () => "to be seen");
  // The workflow gets it, before and after it was stored.
  return secret.token.length + secret.at.getTime() + secret.more.length;
});

async function ended(showSensitive?: () => boolean) {
  const app = createWorkflows({
    workflows: { KEEPER: keeper },
    store: memory(),
    runner: { maxResidents: 0 },
    onProblem: () => {},
    ...(showSensitive ? { showSensitive } : {}),
  });
  apps.push(app as unknown as App);
  await app.start();
  const instance = await app.workflows.KEEPER.create({ id: "i" });
  expect(await instance.result()).toMatchObject({ status: "complete", output: canary.length + 1 });
  return { app, instance };
}

describe("a sensitive result", () => {
  test("is in no view of the instance, no export and no answer over HTTP", async () => {
    const { app, instance } = await ended();
    const handler = createHandler(app, { authorize: allowAll() });
    const get = async (path: string): Promise<string> => {
      const response = await handler(new Request(`http://app.test${path}`));
      expect(response.status, path).toBe(200);
      return response.text();
    };
    const path = "/workflows/keeper/instances/i";
    const seen = [
      await instance.details(),
      await instance.snapshot(),
      await instance.history(),
      await instance.step(0),
      await instance.exportHistory(),
      await get(path),
      await get(`${path}/history`),
      await get(`${path}/steps/0`),
      await get(`${path}/export`),
    ];
    for (const each of seen) expect(JSON.stringify(each)).not.toContain(canary);
    const { steps } = await instance.history();
    expect(steps.map(({ name, sensitive = false, result }) => [name, sensitive, result])).toEqual([
      ["ask", true, undefined],
      ["nothing", true, undefined],
      ["plain", false, "to be seen"],
    ]);
  });

  test("is shown where the app allows it", async () => {
    const { instance } = await ended(() => true);
    expect((await instance.history()).steps[0]).toMatchObject({ result: { token: canary } });
    const document = await instance.exportHistory();
    expect(JSON.stringify(document)).toContain(canary);
    expect(await replayHistory(document, keeper)).toMatchObject({ classification: "identical" });
  });

  test("stays hidden when the hook fails", async () => {
    const { instance } = await ended(() => {
      throw new Error("no idea");
    });
    expect((await instance.history()).steps[0]).toMatchObject({ sensitive: true });
  });
});

onEachStore("a sensitive result", (tell) => {
  test("stays one in the store: whoever reads it later does not show it, nor what a copy of the run took over", async () => {
    const waits = defineWorkflow({ name: "w" }, async (_event, step) => {
      const { token } = await step.do("ask", { sensitive: "output" }, async () => ({ token: canary }));
      const inner = await step.do("outer", async () =>
        step.do("inner", { sensitive: "output" }, async () => [canary]).then(([text]) => text?.length),
      );
      await step.do("plain", async () => "to be seen");
      await step.waitForEvent("go", { type: "go" });
      return token.length + (inner ?? 0);
    });
    const story = tell({ W: waits });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await instance.fork({ from: "go", newId: "copy" });
    await instance.restart({ from: "go" });
    await story.runUntilIdle();
    for (const id of ["i", "copy"]) {
      const handle = await story.workflows.W.get(id);
      const seen = [
        await handle.details(),
        await handle.snapshot(),
        await handle.history(),
        await handle.exportHistory(),
      ];
      for (const each of seen) expect(JSON.stringify(each), id).not.toContain(canary);
      const { steps } = await handle.history();
      expect(steps.map(({ name, sensitive = false }) => [name, sensitive])).toEqual([
        ["ask", true],
        ["outer", false],
        ["inner", true],
        ["plain", false],
        ["go", false],
      ]);
      await handle.sendEvent({ type: "go" });
      await story.runUntilIdle();
      expect(await handle.status()).toEqual({ status: "complete", output: 2 * canary.length });
    }
  });
});
