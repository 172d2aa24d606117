import { describe, expect, test } from "vitest";
import type { LimitOptions } from "../authoring/check-limits.ts";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { StoreError } from "../model/error.ts";
import type { Claim } from "../model/lease.ts";
import type { RunHistory } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";
import { confirmation } from "./unfit.ts";

function scene(limits: LimitOptions = {}, settings: RunnerSettings = {}) {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const store = createFaultyStore(memory({ database }));
  const problems: unknown[] = [];
  const bodies: string[] = [];
  const workflow = defineWorkflow({ name: "w", limits }, async ({ instanceId }, step) => {
    if (instanceId.startsWith("sleeper")) await step.sleep("nap", "1 minute");
    await step.do("work", async () => void bodies.push(instanceId));
  });
  const app = createWorkflows({
    workflows: { W: workflow },
    store,
    runtime,
    runner: { maxResidents: 0, ...settings },
    onProblem: (problem) => problems.push(problem),
  });
  const runOf = (instanceId: string) => {
    const run = database.find({ workflowName: "w", instanceId })?.runs[0];
    if (!run) throw new Error(`There is no ${instanceId}.`);
    return run;
  };
  /** A process takes what is due and is not heard of again. */
  const claimAndVanish = async (last: (claims: readonly Claim[]) => Promise<void> = async () => {}) => {
    const claims = await store.claim({
      owner: "elsewhere",
      token: 1 + runtime.now(),
      workflows: [{ name: "w", concurrency: null }],
      limit: 10,
      now: runtime.now(),
      leaseUntil: runtime.now() + 30_000,
    });
    await last(claims);
    await runtime.advance("31 seconds");
    return claims;
  };
  return { runtime, store, app, problems, bodies, runOf, claimAndVanish };
}

describe("a run whose runner died", () => {
  test("is confirmed only where it can be read: rows that cannot are left as they are", async () => {
    const { runtime, store, app, runOf, claimAndVanish } = scene();
    await app.workflows.W.create({ id: "sleeper" });
    await app.tick();
    await runtime.advance("1 minute");
    await claimAndVanish();
    store.plan((call) =>
      call.method === "readRuns"
        ? async (apply) =>
            ((await apply()) as RunHistory[]).map(({ runId }) => ({
              kind: "unreadable",
              runId,
              error: new Error("begun is no list"),
            }))
        : null,
    );
    const commits = store.count("commit");
    await app.tick();
    expect(runOf("sleeper").ending).toMatchObject({ ending: { error: { code: "HISTORY_UNREADABLE" } } });
    expect(store.count("commit") - commits).toBe(1);
  });

  test("twice is begun alone, also where two ticks claim at the same time", async () => {
    const { runtime, store, app, bodies, claimAndVanish } = scene();
    for (const id of ["a", "b"]) await app.workflows.W.create({ id });
    const crash = async () => {
      const claims = await claimAndVanish(async (taken) => {
        await store.write(taken.map(confirmation), runtime.now());
      });
      expect(claims).toHaveLength(2);
    };
    await crash();
    await crash();
    // The first tick puts them off for the delay after a crash.
    await app.tick();
    await runtime.advance("1 minute");
    const stop = store.stopBefore("commit");
    const ticks = [app.tick({ maxInstances: 1 })];
    await stop.reached;
    stop.remove();
    ticks.push(app.tick({ maxInstances: 1 }));
    await runtime.settle();
    expect(bodies).toEqual([]);
    await stop.continue();
    await Promise.all(ticks);
    expect(bodies).toHaveLength(1);
  });

  test("is not given up for one lease that nobody was heard under, however few crashes are allowed", async () => {
    const { app, bodies, runOf, claimAndVanish } = scene({ maxCrashes: 1 });
    await app.workflows.W.create({ id: "a" });
    await claimAndVanish();
    await app.tick();
    expect([runOf("a").row.status, bodies]).toEqual(["complete", ["a"]]);
  });

  test("INV-48 is given up without a look at its history, in a place that no other run takes meanwhile", async () => {
    const { runtime, store, app, bodies, runOf } = scene({ maxCrashes: 2 }, { concurrency: 1 });
    await app.workflows.W.create({ id: "sleeper" });
    await app.tick();
    await runtime.advance("1 minute");
    const sleeper = runOf("sleeper");
    sleeper.row = { ...sleeper.row, crashCount: 2 };
    await app.workflows.W.create({ id: "other" });
    const reads = store.count("readRuns");
    const gate = createGate();
    store.plan(({ verbs }) =>
      verbs.includes("commit")
        ? async (apply) => {
            await gate.wait();
            return apply();
          }
        : null,
    );
    for (let ticks = 0; ticks < 2; ticks++) {
      void app.tick();
      await runtime.settle();
    }
    expect(bodies).toEqual([]);
    await gate.open();
    await runtime.settle();
    expect(runOf("sleeper").ending).toMatchObject({ ending: { error: { code: "CRASH_LOOP" } } });
    expect(store.count("readRuns")).toBe(reads);
    await app.tick();
    expect(bodies).toEqual(["other"]);
  });

  test("waits a while where its confirmation failed, is reported, and keeps no other waiting", async () => {
    const { runtime, store, app, problems, bodies, runOf, claimAndVanish } = scene();
    await app.workflows.W.create({ id: "a" });
    await claimAndVanish();
    await app.workflows.W.create({ id: "b" });
    store.fail("commit", "unavailable");
    await app.tick();
    expect(bodies).toEqual(["b"]);
    expect(problems).toMatchObject([{ code: "STORE_UNAVAILABLE" }]);
    // Stores keep whole milliseconds.
    expect(Number.isInteger(runOf("a").row.dueAt)).toBe(true);
    await app.tick();
    expect(bodies).toEqual(["b"]);
    await runtime.advance("5 seconds");
    await app.tick();
    expect(bodies).toEqual(["b", "a"]);
  });
});

describe("a run whose history arrives when another has filled the memory meanwhile", () => {
  test("INV-48 is given back, also where two ticks read at the same time, and has its turn later", async () => {
    const runtime = createFakeRuntime();
    const store = createFaultyStore(memory());
    const finish = createGate();
    let atWork = 0;
    let most = 0;
    const job = defineWorkflow({ name: "job" }, async ({ payload: bytes }, step) => {
      await step.do("large", async () => "x".repeat(Number(bytes)));
      await step.sleep("nap", "1 minute");
      await step.do("work", async () => {
        most = Math.max(most, ++atWork);
        await finish.wait();
        atWork--;
      });
    });
    const runner = { maxResidents: 0, maxMemoryBytes: 5000 };
    const app = createWorkflows({ workflows: { job }, store, runtime, runner });
    const large = [
      await app.workflows.job.create({ params: 20_000 }),
      await app.workflows.job.create({ params: 20_000 }),
    ];
    await app.tick();
    await app.tick();
    // So it expects small ones.
    await app.workflows.job.create({ params: 10 });
    await app.tick();
    await runtime.advance("1 minute");
    const arrive = createGate();
    const late = store.plan(({ method }) =>
      method === "readRuns"
        ? async (apply) => {
            const histories = await apply();
            await arrive.wait();
            return histories;
          }
        : null,
    );
    const ticks = [app.tick({ maxInstances: 1 }), app.tick({ maxInstances: 1 })];
    await runtime.settle();
    expect(store.count("claim")).toBeGreaterThanOrEqual(5);
    late.remove();
    await arrive.open();
    await runtime.settle();
    expect([atWork, most]).toEqual([1, 1]);
    await finish.open();
    expect((await Promise.all(ticks)).map(({ processed }) => processed).toSorted()).toEqual([0, 1]);
    for (let round = 0; round < 3; round++) await app.tick();
    for (const instance of large) expect(await instance.status()).toMatchObject({ status: "complete" });
  });
});

describe("a run whose history cannot be read", () => {
  test.each([10, 1])("keeps no other from its turn, where %s are taken at once", async (concurrency) => {
    const { runtime, store, app, problems, bodies, runOf } = scene({}, { concurrency });
    const others = ["sleeper-b", "sleeper-c"];
    for (const id of ["sleeper", ...others]) await app.workflows.W.create({ id });
    for (let round = 0; round < 3; round++) await app.tick();
    const { id: runId } = runOf("sleeper");
    const fault = store.plan((call) => {
      if (call.method !== "readRuns") return null;
      const [reads] = call.args as [readonly { readonly runId: number }[]];
      if (!reads.some((read) => read.runId === runId)) return null;
      return async () => {
        throw new StoreError("ambiguous", "STORE_UNAVAILABLE", "It took too long.");
      };
    });
    await runtime.advance("1 minute");
    const told: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      await app.tick().catch((problem) => told.push(problem));
      await runtime.settle();
    }
    expect(bodies.toSorted()).toEqual(others);
    expect([...problems, ...told]).toMatchObject([
      { code: "STORE_UNAVAILABLE" },
      { code: "STORE_UNAVAILABLE" },
    ]);
    fault.remove();
    await runtime.advance("2 seconds");
    await app.tick();
    expect(bodies).toContain("sleeper");
  });
});
