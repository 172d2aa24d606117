import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { historyBytes } from "../store/history-bytes.ts";
import type { Store } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const large = 10_000;
/** What a run with one such result takes, about. */
const perRun = large + 2_000;

/** Processes on one database whose stores write down how much they read at once. */
function world<Workflows extends Record<string, WorkflowDefinition>>(workflows: Workflows) {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const read: number[] = [];
  const process = (runner: RunnerSettings = {}) => {
    const store = memory({ database });
    const readRuns: Store["readRuns"] = async (requests, maxBytes) => {
      const histories = await store.readRuns(requests, maxBytes);
      read.push(histories.reduce((bytes, history) => bytes + historyBytes(history), 0));
      return histories;
    };
    const counting = new Proxy(store, {
      get: (target, name) => {
        const value = name === "readRuns" ? readRuns : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return createWorkflows({ workflows, store: counting, runtime, runner });
  };
  return { runtime, read, process };
}

describe("memory is bounded by bytes (maxMemoryBytes)", () => {
  test("runs are taken up as far as their histories fit, the others as room is made, and none is lost", async () => {
    let atWork = 0;
    let most = 0;
    const job = defineWorkflow({ name: "job" }, async (_, step) => {
      await step.do("large", async () => "x".repeat(large));
      await step.sleep("until all are due", "1 hour");
      await step.do("at work", async () => {
        most = Math.max(most, ++atWork);
        await new Promise<void>((resolve) => runtime.timer(resolve, 1000));
        atWork--;
      });
      return "done";
    });
    const { runtime, read, process } = world({ job });
    const before = process();
    await before.start();
    const created = await Promise.all(Array.from({ length: 60 }, () => before.workflows.job.create()));
    await runtime.advance("10 minutes");
    await before.stop();

    const app = process({ maxMemoryBytes: 5 * perRun, poll: "1 second", maxPoll: "1 second" });
    await app.start();
    await runtime.advance("2 hours");
    const statuses = await Promise.all(created.map(({ id }) => app.workflows.job.at(id).status()));
    expect(statuses.every(({ status }) => status === "complete")).toBe(true);
    expect(most).toBeGreaterThan(1);
    // One more at most than fits.
    expect(most).toBeLessThanOrEqual(6);
    expect(Math.max(...read)).toBeLessThanOrEqual(6 * perRun);
    await app.stop();
  });

  test("one run is always taken up, however large it is", async () => {
    const job = defineWorkflow({ name: "job" }, async (_, step) => {
      await step.do("large", async () => "x".repeat(large));
      await step.sleep("nap", "1 hour");
      return "done";
    });
    const { runtime, process } = world({ job });
    const app = process({ maxMemoryBytes: 100 });
    await app.start();
    const created = await Promise.all(Array.from({ length: 5 }, () => app.workflows.job.create()));
    await runtime.advance("2 hours");
    for (const instance of created) expect(await instance.status()).toMatchObject({ status: "complete" });
    await app.stop();
  });

  test("suspended instances stay in memory as far as half of it goes, the others are replayed", async () => {
    let passages = 0;
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      passages++;
      await step.do("large", async () => "x".repeat(large));
      await step.sleep("nap", "1 hour");
      return "done";
    });
    const { runtime, process } = world({ nap });
    const app = process({ maxMemoryBytes: 40 * perRun });
    await app.start();
    for (let n = 0; n < 60; n++) {
      await app.workflows.nap.create();
      await runtime.settle();
    }
    expect(passages).toBe(60);
    await runtime.advance("2 hours");
    expect(await app.counts()).toMatchObject({ complete: 60 });
    const replayed = passages - 60;
    expect(replayed).toBeGreaterThanOrEqual(60 - (20 * perRun) / large);
    expect(replayed).toBeLessThan(60);
    await app.stop();
  });

  test("large events fill a buffer sooner than small ones", async () => {
    const wait = defineWorkflow(
      { name: "wait", limits: { maxBufferedBytes: 5 * perRun } },
      async (_, step) => void (await step.waitForEvent("go", { type: "go" })),
    );
    const { process } = world({ wait });
    const app = process();
    const instance = await app.workflows.wait.create();
    const payload = "x".repeat(perRun - 300);
    for (let n = 0; n < 5; n++) await instance.sendEvent({ type: "other", payload });
    await expect(instance.sendEvent({ type: "other", payload })).rejects.toMatchObject({
      code: "EVENT_BUFFER_FULL",
    });
    await instance.sendEvent({ type: "other", payload: "small" });
    await app.stop();
  });

  test("a run whose history has reached its limit begins no more steps, and replays as before", async () => {
    const greedy = defineWorkflow(
      { name: "greedy", limits: { maxHistoryBytes: 3 * large } },
      async (_, step) => {
        for (let n = 0; n < 10; n++) await step.do(`large ${n}`, async () => "x".repeat(large));
      },
    );
    const { runtime, process } = world({ greedy });
    const app = process();
    await app.start();
    const instance = await app.workflows.greedy.create();
    await runtime.settle();
    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { code: "HISTORY_LIMIT_EXCEEDED" },
    });
    expect((await instance.history()).steps.map(({ name }) => name)).toEqual([
      "large 0",
      "large 1",
      "large 2",
    ]);
    await app.stop();
  });
});
