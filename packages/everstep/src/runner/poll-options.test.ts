import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { has } from "../store/capabilities.ts";
import type { NudgeListener, Store } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { interceptStore } from "../testing/intercept-store.ts";

const quick = defineWorkflow({ name: "quick" }, async () => "done");

/** Two processes on a store that several may share: one runs, and has been idle for an hour, the other creates. */
async function idle(extra: Partial<Store> = {}, runner: RunnerSettings = {}) {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const open = (): Store => {
    const store = memory({ database });
    return {
      ...interceptStore(store, (_call, apply) => apply()),
      capabilities: { ...store.capabilities, shared: has },
    };
  };
  const here = createWorkflows({ workflows: { quick }, store: { ...open(), ...extra }, runtime, runner });
  const elsewhere = createWorkflows({ workflows: { quick }, store: open(), runtime });
  await here.start();
  await runtime.advance("1 hour");
  /** How long it takes until what the other has created is complete. */
  const found = async (): Promise<number> => {
    const began = runtime.now();
    const instance = await elsewhere.workflows.quick.create();
    while ((await instance.status()).status !== "complete") await runtime.advance(100);
    return runtime.now() - began;
  };
  return { runtime, found };
}

describe("work of another process, after an hour without any", () => {
  test("is found within two seconds where nobody tells", async () => {
    const { runtime, found } = await idle();
    for (const waitMs of [0, 700, 1300]) {
      await runtime.advance(waitMs);
      expect(await found()).toBeLessThanOrEqual(2000);
      await runtime.advance("10 minutes");
    }
  });

  test("is found as seldom as its host has asked for", async () => {
    const { found } = await idle({}, { maxPoll: "20 seconds" });
    expect(await found()).toBeGreaterThan(2000);
  });

  test("is polled for every 30 seconds only while nudges arrive, and every two when they no longer do", async () => {
    let listener: NudgeListener | undefined;
    let isAway = false;
    const subscribe = async (given: NudgeListener): Promise<() => void> => {
      if (isAway) throw new Error("away");
      listener = given;
      return () => {};
    };
    const { runtime, found } = await idle({ subscribe });
    expect(await found()).toBeGreaterThan(2000);
    await runtime.advance("1 hour");
    isAway = true;
    listener?.onLost(new Error("cut"));
    await runtime.advance(0);
    expect(await found()).toBeLessThanOrEqual(2000);
  });
});
