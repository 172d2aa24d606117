import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import type { Beat, Store } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";

const quick = defineWorkflow({ name: "quick" }, async (_, step) => step.do("one", async () => 1));

/** An app on a store that keeps what it was told. */
function begin(settings: RunnerSettings = {}, without: readonly (keyof Store)[] = []) {
  const runtime = { ...createFakeRuntime(), whereabouts: () => ({ host: "host-1", pid: 42 }) };
  const store = createFaultyStore(memory({ database: createMemoryDatabase() }));
  const beats: Beat[] = [];
  store.plan((call) => {
    if (call.method === "beat") beats.push(call.args[0] as Beat);
    return null;
  });
  for (const method of without) delete (store as Partial<Record<keyof Store, unknown>>)[method];
  const gate = createGate();
  const slow = defineWorkflow({ name: "slow" }, async (_, step) => step.do("wait", () => gate.wait()));
  const problems: unknown[] = [];
  const app = createWorkflows({
    workflows: { quick, slow },
    store,
    runtime,
    runner: settings,
    hooks: { onEnded: async () => {} },
    onProblem: (problem) => problems.push(problem),
  });
  return { runtime, store, beats, gate, problems, app };
}

describe("a runner", () => {
  test("without a limit tells the largest number a store can keep", async () => {
    const { runtime, beats, app } = begin({ concurrency: Number.POSITIVE_INFINITY });
    await app.start();
    await runtime.settle();
    expect(beats[0]?.runner.concurrency).toBe(Number.MAX_SAFE_INTEGER);
    await app.stop();
  });

  test("tells of itself when it starts, and again about every fifteen seconds", async () => {
    const { runtime, beats, app } = begin({ concurrency: 7, poll: "1 second", maxPoll: "1 second" });
    const startedAt = runtime.now();
    await app.start();
    await runtime.settle();
    expect(beats.map(({ runner }) => runner)).toEqual([
      {
        owner: expect.any(String),
        host: "host-1",
        pid: 42,
        startedAt,
        seenAt: startedAt,
        stoppedAt: null,
        concurrency: 7,
        turns: 0,
        workflows: ["quick", "slow"],
      },
    ]);
    await runtime.advance("60 seconds");
    expect(beats.map(({ runner }) => runner.seenAt - startedAt)).toEqual([0, 15_000, 30_000, 45_000, 60_000]);
    await app.stop();
  });

  test("that has nothing to do tells often enough not to be called silent", async () => {
    const { runtime, beats, app } = begin();
    await app.start();
    await runtime.advance("1 hour");
    const seen = beats.map(({ runner }) => runner.seenAt);
    const pauses = seen.slice(1).map((at, n) => at - (seen[n] ?? 0));
    expect(Math.max(...pauses)).toBeLessThan(45_000);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(15_000);
    await app.stop();
  });

  test("tells what it got done, and does not tell it twice", async () => {
    const { runtime, beats, app } = begin();
    await app.start();
    await runtime.settle();
    await app.workflows.quick.create();
    await app.workflows.quick.create();
    await runtime.advance("5 minutes");
    const [tally, ...others] = beats.flatMap(({ tallies }) => tallies);
    expect(tally).toMatchObject({ workflowName: "quick", complete: 2, steps: 2, errored: 0 });
    expect(others).toEqual([]);
    await app.stop();
  });

  test("says how many turns are in progress", async () => {
    const { runtime, beats, gate, app } = begin();
    await app.start();
    await app.workflows.slow.create();
    await app.workflows.slow.create();
    await runtime.advance("1 minute");
    expect(beats.at(-1)?.runner.turns).toBe(2);
    await gate.open();
    await app.stop();
  });

  test("says that it stopped, with the last of what it did", async () => {
    const { runtime, beats, app } = begin();
    await app.start();
    await runtime.settle();
    await (await app.workflows.quick.create()).result();
    await app.stop();
    expect(beats.at(-1)).toMatchObject({
      runner: { stoppedAt: runtime.now(), seenAt: runtime.now(), turns: 0 },
      tallies: [{ workflowName: "quick", complete: 1 }],
    });
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("forgets what is older than eight days", async () => {
    const { runtime, beats, app } = begin();
    await app.start();
    await runtime.settle();
    expect(beats[0]?.forgetBefore).toBe(runtime.now() - 8 * 24 * 60 * 60 * 1000);
    await app.stop();
  });

  test("that is a caller only tells nothing", async () => {
    const { beats, app } = begin();
    await app.workflows.quick.create();
    await app.counts();
    await app.stop();
    expect(beats).toEqual([]);
  });

  test("on a store that does not listen works as ever", async () => {
    const { runtime, beats, app } = begin({}, ["beat", "listRunners", "readTallies"]);
    await app.start();
    expect(await (await app.workflows.quick.create()).result()).toMatchObject({ output: 1 });
    await runtime.advance("1 minute");
    await app.stop();
    expect(beats).toEqual([]);
  });
});

describe("ticks without a loop", () => {
  test("tell with their turns done, at most every fifteen seconds", async () => {
    const { runtime, beats, app } = begin();
    await app.workflows.quick.create();
    await app.tick();
    expect(beats).toMatchObject([{ tallies: [{ complete: 1 }], runner: { turns: 0 } }]);
    await app.tick();
    expect(beats).toHaveLength(1);
    await runtime.advance("15 seconds");
    await app.tick();
    expect(beats).toHaveLength(2);
    await app.stop();
    expect(beats.at(-1)?.runner.stoppedAt).toBe(runtime.now());
  });

  test("do not wait for long when the store does not answer", async () => {
    const { runtime, store, app } = begin();
    store.stopBefore("beat");
    let processed: number | undefined;
    await app.workflows.quick.create();
    void app.tick().then((report) => {
      processed = report.processed;
    });
    await runtime.settle();
    expect(processed).toBeUndefined();
    await runtime.advance("1 second");
    expect(processed).toBe(1);
  });
});

describe("a beat that fails", () => {
  test("harms nobody, and what it should have told comes with the next", async () => {
    const { runtime, store, beats, problems, app } = begin();
    await app.start();
    await runtime.settle();
    store.fail("beat", "unavailable", { times: 2 });
    await (await app.workflows.quick.create()).result();
    await runtime.advance("1 minute");
    await (await app.workflows.quick.create()).result();
    await runtime.advance("2 minutes");
    expect(problems).toEqual([]);
    const read = await store.readTallies?.({ from: 0, to: runtime.now() });
    expect(read?.reduce((sum, { complete }) => sum + complete, 0)).toBe(2);
    expect(beats.filter(({ tallies }) => tallies.length > 0).length).toBeGreaterThan(2);
    await app.stop();
  });

  test("because the store does not answer holds up a stop for a second, not longer", async () => {
    const { runtime, store, app } = begin();
    await app.start();
    await runtime.settle();
    store.stopBefore("beat");
    let isStopped = false;
    void app.stop().then(() => {
      isStopped = true;
    });
    await runtime.advance(999);
    expect(isStopped).toBe(false);
    await runtime.advance(1);
    expect(isStopped).toBe(true);
  });

  test("before the last one keeps that one waiting, so that a runner that stopped stays so", async () => {
    const { runtime, store, app } = begin();
    await app.start();
    await runtime.settle();
    const stop = store.stopBefore("beat");
    await runtime.advance("1 minute");
    expect(stop.isReached).toBe(true);
    const stopped = app.stop();
    await runtime.settle();
    await stop.continue();
    await stopped;
    expect(store.count("beat")).toBe(3);
  });
});
