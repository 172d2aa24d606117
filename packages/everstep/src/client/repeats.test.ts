/** A call that is repeated under the same key is answered as it was, and nothing follows from it again. */
import { createGate, createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import { memory } from "../stores/memory/index.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import type { AppOptions } from "./app-options.ts";
import { createWorkflows } from "./create-workflows.ts";

const waiter = defineWorkflow({ name: "w" }, async (_event, step) => {
  await step.do("first", () => 1);
  return (await step.waitForEvent("note", { type: "note" })).payload;
});

const repeat = { idempotencyKey: "key-1" };

describe("a repeat", () => {
  test.each(["restart", "restartOrCreate"] as const)(
    "of a %s leaves the run alone that the first one began, also while a body of it is at work",
    async (verb) => {
      const gate = createGate();
      const signals: AbortSignal[] = [];
      const held = defineWorkflow({ name: "held" }, async (_event, step) =>
        step.do("work", async ({ signal }) => {
          signals.push(signal);
          await gate.wait();
          return "done";
        }),
      );
      await using story = createTestHarness({ workflows: { HELD: held } });
      const instance = await story.workflows.HELD.create({ id: "h" });
      const restart = () =>
        verb === "restart"
          ? instance.restart(repeat)
          : story.workflows.HELD.restartOrCreate({ id: "h", ...repeat });
      await restart();
      await story.tick();
      await restart();
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      await gate.open();
      expect(await instance.details()).toMatchObject({ status: "complete", output: "done", runNumber: 2 });
    },
  );

  test("of a terminate does not end whoever waits for a later run", async () => {
    await using story = createTestHarness({ workflows: { W: waiter } });
    const instance = await story.workflows.W.create({ id: "w" });
    await instance.terminate(repeat);
    await instance.restart();
    await story.tick();
    const result = instance.result();
    await instance.terminate(repeat);
    await instance.sendEvent({ type: "note", payload: "late" });
    await story.tick();
    expect(await result).toMatchObject({ status: "complete", output: "late" });
  });

  test("of a retry is answered although there is nothing to retry any more", async () => {
    const flaky = defineWorkflow({ name: "flaky" }, async (_event, step) =>
      step.do("call", { retries: false }, ({ attempt }) => {
        if (attempt === 1) throw new Error("no answer");
        return "done";
      }),
    );
    await using story = createTestHarness({ workflows: { FLAKY: flaky } });
    const instance = await story.workflows.FLAKY.create({ id: "f" });
    await story.tick();
    await instance.retryFailedStep(repeat);
    await story.tick();
    await instance.retryFailedStep(repeat);
    expect(await instance.status()).toEqual({ status: "complete", output: "done" });
    await expect(instance.retryFailedStep()).rejects.toMatchObject({ code: "INSTANCE_NOT_ERRORED" });
  });

  test("of a restart from a step needs no such step in the run that it began", async () => {
    await using story = createTestHarness({ workflows: { W: waiter } });
    const instance = await story.workflows.W.create({ id: "w" });
    await story.tick();
    for (let n = 0; n < 3; n++) await instance.restart({ from: "note", ...repeat });
    expect((await instance.details()).runNumber).toBe(2);
    await expect(instance.restart({ from: "note" })).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
  });

  test("under a key that is none is refused before anything is asked", async () => {
    await using story = createTestHarness({ workflows: { W: waiter } });
    const instance = await story.workflows.W.create({ id: "w" });
    for (const idempotencyKey of ["", "a b", "é", "x".repeat(201), 7 as never])
      await expect(instance.pause({ idempotencyKey })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((await instance.status()).status).toBe("active");
  });

  test("of a pause or a resume leaves the instance as it has become since", async () => {
    await using story = createTestHarness({ workflows: { W: waiter } });
    const instance = await story.workflows.W.create({ id: "w" });
    await story.tick();
    await instance.pause(repeat);
    await instance.resume(repeat);
    await instance.pause(repeat);
    expect((await instance.status()).status).toBe("active");
    await story.tick();
    await instance.pause();
    await instance.resume(repeat);
    expect((await instance.status()).status).toBe("paused");
    await instance.terminate();
    await instance.pause(repeat);
    await expect(instance.pause({ idempotencyKey: "key-2" })).rejects.toMatchObject({
      code: "INSTANCE_TERMINAL",
    });
  });
});

const hopeless = defineWorkflow({ name: "hopeless" }, async (_event, step) => {
  await step.do("first", () => 1);
  await step.do("call", { retries: false }, () => {
    throw new Error("no answer");
  });
});

/** What is decided, and what comes before it. */
const decisions: Readonly<Record<string, [decide: Decide, before?: Decide]>> = {
  pause: [(instance) => instance.pause(repeat), (instance) => instance.restart()],
  resume: [
    (instance) => instance.resume(repeat),
    async (instance) => {
      await instance.restart();
      await instance.pause();
    },
  ],
  terminate: [(instance) => instance.terminate(repeat), (instance) => instance.restart()],
  restart: [(instance) => instance.restart(repeat)],
  "restart from a step": [(instance) => instance.restart({ from: "call", ...repeat })],
  retry: [(instance) => instance.retryFailedStep(repeat)],
};
type Decide = (instance: InstanceHandle) => Promise<void>;

describe.each(Object.entries(decisions))("a %s under a key", (_verb, [decide, before]) => {
  async function stage(options: Partial<Omit<AppOptions<Record<string, never>>, "workflows">> = {}) {
    const writes: string[] = [];
    const store = createFaultyStore(memory());
    const app = createWorkflows({ workflows: { H: hopeless }, store, onNotice: () => {}, ...options });
    app.observe({ onStoreCallEnd: ({ verb }, { outcome }) => verb === "write" && writes.push(outcome) });
    const instance = await app.workflows.H.create({ id: "h" });
    await app.tick();
    await before?.(instance);
    writes.length = 0;
    return { app, store, instance, writes };
  }

  test("is one write, and so is its repeat, which changes nothing", async () => {
    const { app, instance, writes } = await stage();
    await decide(instance);
    const decided = await instance.details();
    for (let n = 0; n < 2; n++) await decide(instance);
    expect(writes).toEqual(["ok", "ok", "ok"]);
    expect(await instance.details()).toMatchObject({ status: decided.status, runNumber: decided.runNumber });
    await app.stop();
  });

  test("is one write where hooks are told of ends and restarts too", async () => {
    const { app, instance, writes } = await stage({ hooks: { onEnded() {}, onRestarted() {} } });
    await decide(instance);
    await decide(instance);
    expect(writes).toEqual(["ok", "ok"]);
    await app.stop();
  });

  test("whose answer is lost is made once", async () => {
    const { app, store, instance, writes } = await stage();
    const { runNumber } = await instance.details();
    store.fail("change", "ambiguous", { applied: true });
    await decide(instance);
    expect(writes).toEqual(["ambiguous", "ok"]);
    const after = await instance.details();
    expect(after.runNumber - runNumber).toBeLessThanOrEqual(1);
    await decide(instance);
    expect(await instance.details()).toMatchObject({ status: after.status, runNumber: after.runNumber });
    await app.stop();
  });
});

test("whoever waits hears at once of the end that is decided under a key, also when the answer is lost", async () => {
  for (const isLost of [false, true]) {
    const store = createFaultyStore(memory());
    const app = createWorkflows({ workflows: { W: waiter }, store });
    const instance = await app.workflows.W.create({ id: "w" });
    await app.tick();
    const result = instance.result();
    if (isLost) store.fail("change", "ambiguous", { applied: true });
    await instance.terminate(repeat);
    expect(await result).toMatchObject({ status: "terminated", timedOut: false });
    await app.stop();
  }
});
