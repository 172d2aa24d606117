import { expect, onTestFinished, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { StoreError } from "../model/error.ts";
import { memory } from "../stores/memory/index.ts";
import { createDeferred } from "../testing/deferred.ts";
import { interceptStore } from "../testing/intercept-store.ts";
import { createWorkflows } from "./create-workflows.ts";

const quick = defineWorkflow({ name: "quick" }, async (_event, step) => step.do("work", async () => "done"));
const patient = defineWorkflow({ name: "patient" }, async (_event, step) => {
  const { payload } = await step.waitForEvent("go", { type: "go", timeout: "1 day" });
  return payload;
});

async function begin(store = memory()) {
  const app = createWorkflows({ store, workflows: { quick, patient } });
  onTestFinished(async () => void (await app.stop()));
  await app.start();
  return app;
}

test("an instance that has ended is removed, and its id is free", async () => {
  const app = await begin();
  const instance = await app.workflows.quick.create({ id: "a" });
  await instance.result();
  await instance.delete();
  await expect(instance.status()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  await expect(instance.delete()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  const again = await app.workflows.quick.create({ id: "a" });
  expect(await again.result()).toMatchObject({ status: "complete", output: "done" });
});

test("one that goes on is refused with what to do, and goes on", async () => {
  const app = await begin();
  const instance = await app.workflows.patient.create({ id: "a" });
  await expect(instance.delete()).rejects.toMatchObject({
    code: "INSTANCE_NOT_TERMINAL",
    message: expect.stringMatching(/Terminate it first, or delete it with force: true/),
  });
  await instance.sendEvent({ type: "go", payload: 1 });
  expect(await instance.result()).toMatchObject({ output: 1 });
});

test("force ends what is under way: its body is aborted, its waiters are told, the next instance is not touched", async () => {
  const begun = createDeferred<AbortSignal>();
  const gate = createDeferred<void>();
  let runs = 0;
  const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
    const first = await step.do("work", async ({ signal }) => {
      runs += 1;
      if (runs > 1) return "second";
      begun.resolve(signal);
      await gate.promise;
      return "first";
    });
    await step.do("more", async () => {
      runs += 10;
    });
    return first;
  });
  const app = createWorkflows({ store: memory(), workflows: { slow } });
  onTestFinished(async () => void (await app.stop()));
  await app.start();
  const instance = await app.workflows.slow.create({ id: "a" });
  const signal = await begun.promise;
  const waits = expect(instance.result()).rejects.toMatchObject({
    code: "INSTANCE_NOT_FOUND",
    message: expect.stringMatching(/was deleted/),
  });
  await instance.delete({ force: true });
  await waits;
  expect(signal.aborted).toBe(true);
  const again = await app.workflows.slow.create({ id: "a" });
  gate.resolve();
  expect(await again.result()).toMatchObject({ status: "complete", output: "second" });
  expect(runs).toBe(12);
});

test.each([
  ["paused", async (instance: { pause(): Promise<void> }) => instance.pause()],
  [
    "with an event in its buffer",
    async (instance: { sendEvent(event: object): Promise<void> }) => instance.sendEvent({ type: "later" }),
  ],
] as const)("force removes one that is %s", async (_how, prepare) => {
  const app = await begin();
  const instance = await app.workflows.patient.create({ id: "a" });
  await (prepare as (given: unknown) => Promise<unknown>)(instance);
  await instance.delete({ force: true });
  await expect(instance.details()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  const again = await app.workflows.patient.create({ id: "a" });
  expect((await again.history()).events).toEqual([]);
  expect((await again.details()).status).not.toBe("paused");
});

test("one that begins later is removed too", async () => {
  const app = await begin();
  const startAt = new Date(Date.now() + 3_600_000);
  const instance = await app.workflows.quick.create({ id: "a", startAt });
  await instance.delete({ force: true });
  expect(await app.counts()).toMatchObject({ active: 0 });
});

test("a lost answer is no failure, and a repeat leaves the next instance of the id alone", async () => {
  const store = memory();
  let isLost = true;
  let recreate = async (): Promise<void> => {};
  const app = createWorkflows({
    workflows: { quick, patient },
    store: interceptStore(store, async (call, next) => {
      const answer = await next();
      if (!isLost || !call.verbs.includes("delete")) return answer;
      isLost = false;
      await recreate();
      throw new StoreError("ambiguous", "STORE_UNAVAILABLE", "The answer was lost.");
    }),
  });
  onTestFinished(async () => void (await app.stop()));
  await app.start();
  const instance = await app.workflows.patient.create({ id: "a" });
  const other = createWorkflows({ workflows: { quick, patient }, store });
  recreate = async () => {
    await other.workflows.patient.create({ id: "a" });
  };
  await instance.delete({ force: true });
  expect((await app.workflows.patient.get("a")).id).toBe("a");
});

test("createdAt names the instance that is meant", async () => {
  const app = await begin();
  const instance = await app.workflows.quick.create({ id: "a" });
  await instance.result();
  const { createdAt } = await instance.details();
  await expect(instance.delete({ createdAt: new Date(createdAt.getTime() - 1) })).rejects.toMatchObject({
    code: "INSTANCE_NOT_FOUND",
  });
  await instance.delete({ createdAt });
  await expect(instance.delete({ force: "yes" as never })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
});
