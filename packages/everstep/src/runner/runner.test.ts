import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { lanes } from "../store/apply/lane.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";

/** One database, one clock, and as many processes on them as the story needs. */
function world<Workflows extends Record<string, WorkflowDefinition>>(workflows: Workflows) {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const problems: unknown[] = [];
  const process = (settings: RunnerSettings = {}, known: Record<string, WorkflowDefinition> = workflows) => {
    const store = createFaultyStore(memory({ database }));
    const app = createWorkflows({
      workflows: known as Workflows,
      store,
      runtime,
      runner: settings,
      onProblem: (problem) => problems.push(problem),
    });
    /** What was asked of the store since the last look. */
    let seen: Record<string, number> = {};
    const verbs = ["write", "claim", "readRuns", "renew", "release", "create", "commit"] as const;
    const counted = (): Record<string, number> =>
      Object.fromEntries(verbs.map((verb) => [verb, store.count(verb)]));
    const calls = (): Record<string, number> => {
      const now = counted();
      const since = Object.fromEntries(verbs.map((verb) => [verb, (now[verb] ?? 0) - (seen[verb] ?? 0)]));
      seen = now;
      return since;
    };
    return { app, store, calls };
  };
  return { runtime, database, problems, process };
}

const five = defineWorkflow({ name: "five" }, async (_, step) => {
  for (let at = 0; at < 5; at++) await step.do(`s${at}`, async () => at);
  return "done";
});

describe("what a workflow costs", () => {
  test("five steps are six writes and no claim", async () => {
    const { runtime, process } = world({ five });
    const { app, calls } = process();
    await app.start();
    await runtime.settle();
    calls();
    const instance = await app.workflows.five.create();
    expect(await instance.result()).toMatchObject({ status: "complete", output: "done" });
    expect(calls()).toMatchObject({ write: 6, claim: 0, readRuns: 0, renew: 0, release: 0 });
  });

  test("a hundred at once share their writes", async () => {
    const { runtime, process } = world({ five });
    const { app, calls, store } = process();
    await app.start();
    await runtime.settle();
    calls();
    const created = await Promise.all(Array.from({ length: 100 }, () => app.workflows.five.create()));
    await Promise.all(created.map((instance) => instance.result()));
    const { write, claim } = calls();
    expect(claim).toBe(0);
    expect(write).toBeLessThanOrEqual(12);
    expect(store.count("commit")).toBeLessThanOrEqual(12);
  });

  test("a sleep costs one claim, and nothing is read when the turn is still in memory", async () => {
    let passages = 0;
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      passages++;
      await step.sleep("nap", "1 hour");
      return "rested";
    });
    const { runtime, process } = world({ nap });
    const { app, calls } = process({ poll: "2 hours", maxPoll: "2 hours", minPoll: "2 hours" });
    await app.start();
    await runtime.settle();
    calls();
    const instance = await app.workflows.nap.create();
    await runtime.advance("1 hour");
    expect(await instance.status()).toMatchObject({ status: "complete", output: "rested" });
    expect(calls()).toMatchObject({ write: 3, claim: 1, readRuns: 0 });
    expect(passages).toBe(1);
  });

  test("where it is not in memory any more, one read is added", async () => {
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => step.sleep("nap", "1 hour"));
    const { runtime, process } = world({ nap });
    const { app, calls } = process({
      maxResidents: 0,
      poll: "2 hours",
      maxPoll: "2 hours",
      minPoll: "2 hours",
    });
    await app.start();
    await runtime.settle();
    calls();
    await app.workflows.nap.create();
    await runtime.advance("1 hour");
    expect(calls()).toMatchObject({ write: 3, claim: 1, readRuns: 1 });
  });

  test("an event wakes its run at once: one claim, and one read for the event", async () => {
    const wait = defineWorkflow({ name: "wait" }, async (_, step) => {
      return (await step.waitForEvent("approval", { type: "approved" })).payload;
    });
    const { runtime, process } = world({ wait });
    const { app, calls } = process();
    await app.start();
    const instance = await app.workflows.wait.create();
    await runtime.settle();
    calls();
    await instance.sendEvent({ type: "approved", payload: 7 });
    await runtime.settle();
    expect(await instance.status()).toEqual({ status: "complete", output: 7 });
    expect(calls()).toMatchObject({ write: 2, claim: 1, readRuns: 1 });
  });

  test("an instance created elsewhere is found by polling", async () => {
    const { runtime, process } = world({ five });
    const [here, elsewhere] = [process(), process()];
    await here.app.start();
    await runtime.settle();
    here.calls();
    const instance = await elsewhere.app.workflows.five.create();
    await runtime.advance("30 seconds");
    expect(await instance.status()).toMatchObject({ status: "complete" });
    // A run that never started has no history to read.
    expect(here.calls()).toMatchObject({ write: 5, readRuns: 0 });
  });

  test("an idle runner asks less and less, never less than every 30 seconds", async () => {
    const { runtime, process } = world({ five });
    const { app, calls } = process();
    await app.start();
    await runtime.advance("1 hour");
    calls();
    await runtime.advance("10 minutes");
    expect(calls()).toMatchObject({ write: 0, claim: 20 });
  });
});

describe("turns kept in memory", () => {
  test("are continued only when nobody had the run in between", async () => {
    const passages: string[] = [];
    let owner = "";
    const naps = defineWorkflow({ name: "naps" }, async (_, step) => {
      passages.push(owner);
      for (const at of [1, 2, 3]) await step.sleep(`nap ${at}`, "1 hour");
    });
    const { runtime, process } = world({ naps });
    const [first, other] = [process(), process()];
    owner = "first";
    const instance = await first.app.workflows.naps.create();
    await first.app.tick();
    await runtime.advance("1 hour");
    owner = "other";
    await other.app.tick();
    await runtime.advance("1 hour");
    owner = "first again";
    await first.app.tick();
    await runtime.advance("1 hour");
    await first.app.tick();
    expect(passages).toEqual(["first", "other", "first again"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("are dropped when the run was restarted meanwhile", async () => {
    let passages = 0;
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      passages++;
      await step.sleep("nap", "1 hour");
    });
    const { runtime, process } = world({ nap });
    const { app } = process();
    await app.start();
    const instance = await app.workflows.nap.create();
    await runtime.settle();
    await instance.restart();
    await runtime.settle();
    expect(passages).toBe(2);
    await runtime.advance("1 hour");
    expect(await instance.status()).toMatchObject({ status: "complete" });
    expect(passages).toBe(2);
  });
});

describe("one tick at a time, for hosts without a loop", () => {
  test("takes at most the instances it is given, and says how many", async () => {
    const { process } = world({ five });
    const { app } = process();
    for (const id of ["a", "b", "c"]) await app.workflows.five.create({ id });
    expect(await app.tick({ maxInstances: 2 })).toEqual({ processed: 2 });
    expect(await app.counts()).toMatchObject({ complete: 2, active: 1 });
    expect(await app.tick()).toEqual({ processed: 1 });
    expect(await app.tick()).toEqual({ processed: 0 });
  });

  test("starts at most the bodies it is given, and leaves the rest due", async () => {
    const { process } = world({ five });
    const { app } = process();
    const instance = await app.workflows.five.create();
    expect(await app.tick({ maxSteps: 2 })).toEqual({ processed: 1 });
    expect((await instance.history()).steps.map(({ name }) => name)).toEqual(["s0", "s1"]);
    expect(await app.tick({ maxSteps: 2 })).toEqual({ processed: 1 });
    await app.tick();
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("without any steps to give it makes no progress and loses nothing", async () => {
    const { process } = world({ five });
    const { app } = process();
    const instance = await app.workflows.five.create();
    await app.tick({ maxSteps: 0 });
    expect(await instance.status()).toEqual({ status: "active" });
    await app.tick();
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("many at once on one instance run it once", async () => {
    let runs = 0;
    const once = defineWorkflow({ name: "once" }, async (_, step) => step.do("a", async () => ++runs));
    const { process } = world({ once });
    const processes = Array.from({ length: 5 }, () => process());
    await processes[0]?.app.workflows.once.create();
    const ticks = await Promise.all(processes.map(({ app }) => app.tick()));
    expect(ticks.reduce((sum, { processed }) => sum + processed, 0)).toBe(1);
    expect(runs).toBe(1);
  });

  test("paused and ended instances are not taken", async () => {
    const { process } = world({ five });
    const { app } = process();
    const [paused, ended] = [await app.workflows.five.create(), await app.workflows.five.create()];
    await paused.pause();
    await ended.terminate();
    expect(await app.tick()).toEqual({ processed: 0 });
  });
});

describe("pause and resume while a body runs", () => {
  test("the body is not run again, and the run goes on the moment it ends", async () => {
    const gate = createGate();
    const ran: string[] = [];
    const slow = defineWorkflow({ name: "slow" }, async (_, step) => {
      await step.do("a", async () => {
        ran.push("a");
        await gate.wait();
      });
      await step.do("b", async () => ran.push("b"));
    });
    const { runtime, process } = world({ slow });
    const { app } = process();
    await app.start();
    const instance = await app.workflows.slow.create();
    await runtime.settle();
    await instance.pause();
    expect(await instance.status()).toEqual({ status: "paused" });
    // Long enough that a renewal has heard of the pause.
    await runtime.advance("15 seconds");
    await instance.resume();
    const before = runtime.now();
    await gate.open();
    await runtime.settle();
    expect(await instance.status()).toMatchObject({ status: "complete" });
    expect(ran).toEqual(["a", "b"]);
    expect(runtime.now()).toBe(before);
  });

  describe("what waits beside it goes on", () => {
    const beside = async () => {
      const gate = createGate();
      const ran: string[] = [];
      const slow = defineWorkflow({ name: "slow" }, async (_, step) => {
        const nap = async (): Promise<void> => {
          await step.sleep("nap", "1 minute");
          await step.do("b", async () => ran.push("b"));
        };
        const body = async (): Promise<void> => {
          ran.push("a");
          await gate.wait();
        };
        await Promise.all([step.do("a", { timeout: "1 day" }, body), nap()]);
      });
      const { runtime, process } = world({ slow });
      const [{ app }, other] = [process(), process()];
      await app.start();
      const instance = await app.workflows.slow.create({ id: "i" });
      await runtime.settle();
      const finish = async (): Promise<void> => {
        await gate.open();
        await runtime.settle();
        expect(await instance.status()).toMatchObject({ status: "complete" });
        expect(ran).toEqual(["a", "b"]);
      };
      return { runtime, instance, elsewhere: await other.app.workflows.slow.get("i"), ran, finish };
    };

    test("at once, if it is resumed in the same process", async () => {
      const { runtime, instance, ran, finish } = await beside();
      await instance.pause();
      await runtime.advance("2 minutes");
      expect(ran).toEqual(["a"]);
      await instance.resume();
      await runtime.settle();
      expect(ran).toEqual(["a", "b"]);
      await finish();
    });

    test("with the first renewal that says so, if another process resumes it", async () => {
      const { runtime, elsewhere, ran, finish } = await beside();
      await elsewhere.pause();
      await runtime.advance("2 minutes");
      await elsewhere.resume();
      await runtime.settle();
      expect(ran).toEqual(["a"]);
      await runtime.advance("20 seconds");
      expect(ran).toEqual(["a", "b"]);
      await finish();
    });

    test("not while it is paused again, though word of the resume comes late", async () => {
      const { runtime, elsewhere, instance, ran, finish } = await beside();
      await elsewhere.pause();
      await runtime.advance("2 minutes");
      await Promise.all([elsewhere.resume(), elsewhere.pause()]);
      await runtime.advance("2 minutes");
      expect(ran).toEqual(["a"]);
      await instance.resume();
      await runtime.settle();
      await finish();
    });

    test("not after a termination, which its body hears of", async () => {
      const { runtime, instance, ran } = await beside();
      await instance.pause();
      await runtime.advance("20 seconds");
      await instance.resume();
      await instance.terminate();
      await runtime.advance("2 minutes");
      expect(ran).toEqual(["a"]);
      expect(await instance.status()).toMatchObject({ status: "terminated" });
    });
  });

  test("while it is paused nothing begins, whatever arrives", async () => {
    const gate = createGate();
    const ran: string[] = [];
    const slow = defineWorkflow({ name: "slow" }, async (_, step) => {
      await step.do("a", () => gate.wait());
      await step.waitForEvent("go", { type: "go" });
      await step.do("b", async () => ran.push("b"));
    });
    const { runtime, process } = world({ slow });
    const { app } = process();
    await app.start();
    const instance = await app.workflows.slow.create();
    await runtime.settle();
    await instance.pause();
    await gate.open();
    await instance.sendEvent({ type: "go" });
    await runtime.advance("1 hour");
    expect(await instance.status()).toEqual({ status: "paused" });
    expect(ran).toEqual([]);
    await instance.resume();
    await runtime.settle();
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });
});

describe("a poisoned instance harms only itself", () => {
  const poisons: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("poison");
    },
    "throws nothing": () => {
      throw undefined;
    },
    "throws something strange": () => {
      throw Object.create(null, {
        message: {
          get: () => {
            throw new Error("ha");
          },
        },
      });
    },
    "returns a cycle": () => {
      const cycle: unknown[] = [() => 1];
      cycle.push(cycle);
      return cycle;
    },
    "returns a function": () => () => 1,
    "returns what throws when read": () => ({
      get trap() {
        throw new Error("ha");
      },
    }),
    "returns a thenable that never settles the same way twice": () => ({
      // biome-ignore lint/suspicious/noThenProperty: that is the poison
      then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
        resolve(Promise.reject(new Error("ha")));
        reject(new Error("again"));
      },
    }),
  };

  test.each(Object.entries(poisons))("a function that %s", async (_, poison) => {
    const poisoned = defineWorkflow({ name: "poisoned" }, poison as never);
    const { runtime, process } = world({ poisoned, five });
    const { app } = process();
    await app.start();
    const created = [
      await app.workflows.five.create(),
      await app.workflows.poisoned.create(),
      await app.workflows.five.create(),
    ];
    await runtime.settle();
    const statuses = await Promise.all(created.map(async (instance) => (await instance.status()).status));
    expect(statuses).toEqual(["complete", "errored", "complete"]);
    const { details: _details, ...error } = (await created[1]?.status())?.error ?? { name: "", message: "" };
    expect(error).toEqual({
      name: expect.any(String),
      message: expect.any(String),
      ...(error.code ? { code: error.code } : {}),
    });
  });

  test("params that are damaged in the store", async () => {
    const { runtime, database, process, problems } = world({ five });
    const { app } = process();
    for (const id of ["a", "damaged", "c"]) await app.workflows.five.create({ id });
    const instance = database.find({ workflowName: "five", instanceId: "damaged" });
    Object.assign(instance as object, { params: { json: "{", marks: null } });
    await app.start();
    await runtime.settle();
    const statusOf = async (id: string) => (await app.workflows.five.get(id)).status();
    expect(await statusOf("a")).toMatchObject({ status: "complete" });
    expect(await statusOf("c")).toMatchObject({ status: "complete" });
    expect(await statusOf("damaged")).toMatchObject({
      status: "errored",
      error: { code: "HISTORY_UNREADABLE" },
    });
    expect(problems).toEqual([]);
  });

  test("and it stays visible in lists, beside the others", async () => {
    const { database, process } = world({ five });
    const { app } = process();
    for (const id of ["a", "damaged", "c"]) await app.workflows.five.create({ id });
    const instance = database.find({ workflowName: "five", instanceId: "damaged" });
    Object.assign(instance as object, { params: { json: "{", marks: null } });
    const { items } = await app.workflows.five.list();
    expect(items.map(({ id }) => id).sort()).toEqual(["a", "c", "damaged"]);
  });

  test("a step whose record is damaged", async () => {
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      await step.do("a", async () => ({ n: 1 }));
      await step.sleep("nap", "1 hour");
    });
    const { runtime, database, process } = world({ nap });
    const { app } = process({ maxResidents: 0 });
    await app.start();
    const [damaged, fine] = [await app.workflows.nap.create(), await app.workflows.nap.create()];
    await runtime.settle();
    const run = database.find({ workflowName: "nap", instanceId: damaged.id })?.runs[0];
    const step = run?.steps.get(0);
    run?.steps.set(0, { ...step, result: { json: "{", marks: null } } as never);
    await runtime.advance("1 hour");
    expect(await damaged.status()).toMatchObject({
      status: "errored",
      error: { code: "HISTORY_UNREADABLE" },
    });
    expect(await fine.status()).toMatchObject({ status: "complete" });
  });

  test("a workflow whose own defaults make no sense is refused before anything runs", () => {
    const broken = defineWorkflow({ name: "broken", retries: { limit: -1 } }, async () => 1);
    const { process } = world({ broken, five });
    expect(() => process()).toThrow(expect.objectContaining({ code: "INVALID_STEP_CONFIG" }));
  });
});

describe("a workflow this process has no code for", () => {
  test("stays untouched and visible, and runs where there is code", async () => {
    const { runtime, process } = world({ five });
    const other = defineWorkflow({ name: "other" }, async () => "ran");
    const [knowing, ignorant] = [process({}, { other }), process()];
    await (
      knowing.app.workflows as never as Record<string, { create(options: object): Promise<unknown> }>
    ).other?.create({
      id: "1",
    });
    await ignorant.app.start();
    await runtime.advance("5 minutes");
    const ref = { workflowName: "other", instanceId: "1" };
    expect(await ignorant.store.getInstance(ref)).toMatchObject({
      status: "active",
      startedAt: null,
      token: 0,
    });
    expect((await ignorant.store.listInstances({ limit: 10 })).items).toHaveLength(1);
    await knowing.app.tick();
    expect(await ignorant.store.getInstance(ref)).toMatchObject({ status: "complete" });
  });
});

describe("how much runs at once", () => {
  test("a capped workflow runs one after the other, and the next begins the moment one ends", async () => {
    const gates = [createGate(), createGate(), createGate()];
    const running: number[] = [];
    const capped = defineWorkflow<{ n: number }>(
      { name: "capped", concurrency: 1 },
      async ({ payload }, step) =>
        step.do("a", async () => {
          running.push(payload.n);
          await gates[payload.n]?.wait();
        }),
    );
    const { runtime, process } = world({ capped, five });
    const { app } = process();
    await app.start();
    for (const n of [0, 1, 2]) await app.workflows.capped.create({ params: { n } });
    await runtime.advance("1 minute");
    expect(running).toEqual([0]);
    const before = runtime.now();
    for (const gate of gates) {
      await gate.open();
      await runtime.settle();
    }
    expect(running).toEqual([0, 1, 2]);
    expect(runtime.now()).toBe(before);
  });

  test("waiting instances do not count", async () => {
    const capped = defineWorkflow({ name: "capped", concurrency: 1 }, async (_, step) =>
      step.sleep("nap", "1 hour"),
    );
    const { runtime, process } = world({ capped });
    const { app } = process();
    await app.start();
    for (let count = 0; count < 3; count++) await app.workflows.capped.create();
    await runtime.settle();
    expect(await app.counts()).toMatchObject({ waiting: 3 });
  });

  test("one that waits for its place can be terminated", async () => {
    const gate = createGate();
    const capped = defineWorkflow({ name: "capped", concurrency: 1 }, async (_, step) =>
      step.do("a", () => gate.wait()),
    );
    const { runtime, process } = world({ capped });
    const { app } = process();
    await app.start();
    await app.workflows.capped.create();
    const queued = await app.workflows.capped.create();
    await runtime.settle();
    expect(await queued.details()).toMatchObject({ queued: true, executing: false });
    await queued.terminate();
    expect(await queued.status()).toEqual({ status: "terminated" });
  });

  test("a runner takes no more than its places, and what is due goes on the moment one is free", async () => {
    const gate = createGate();
    const busy = defineWorkflow({ name: "busy" }, async (_, step) =>
      step.do("a", { timeout: "1 day" }, () => gate.wait()),
    );
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      await step.sleep("nap", "1 minute");
      return step.do("a", async () => "rested");
    });
    const { runtime, process } = world({ busy, nap });
    const { app } = process({ concurrency: 1 });
    await app.start();
    const sleeper = await app.workflows.nap.create();
    await runtime.settle();
    await app.workflows.busy.create();
    await runtime.advance("10 minutes");
    expect(await sleeper.status()).toEqual({ status: "waiting" });
    await gate.open();
    await runtime.settle();
    expect(await sleeper.status()).toMatchObject({ status: "complete" });
  });

  test("a new instance does not overtake those that wait for a place", async () => {
    const order: string[] = [];
    const busy = defineWorkflow({ name: "busy" }, async (event, step) =>
      step.do("a", async () => order.push(event.instanceId)),
    );
    const { runtime, process } = world({ busy });
    const { app } = process({ concurrency: 1 });
    const elsewhere = process();
    for (const id of ["1", "2", "3"]) await elsewhere.app.workflows.busy.create({ id });
    const first = await app.workflows.busy.get("1");
    // Created in the very moment in which the first one's place is free.
    void first.result().then(() => app.workflows.busy.create({ id: "new" }));
    await app.start();
    await runtime.settle();
    expect(order).toEqual(["1", "2", "3", "new"]);
  });

  test("creations while a claim is under way do not exceed its places", async () => {
    const gate = createGate();
    let [now, most] = [0, 0];
    const busy = defineWorkflow({ name: "busy" }, async (_, step) =>
      step.do("a", async () => {
        most = Math.max(most, ++now);
        await gate.wait();
        now--;
      }),
    );
    const { runtime, process } = world({ busy });
    const { app, store } = process({ concurrency: 1 });
    await app.start();
    await runtime.settle();
    await process().app.workflows.busy.create({ id: "elsewhere" });
    const claim = store.stopAfter("claim");
    await runtime.advance("2 seconds");
    expect(claim.isReached).toBe(true);
    await app.workflows.busy.create({ id: "here" });
    void claim.continue();
    await runtime.settle();
    expect(most).toBe(1);
    await gate.open();
    await runtime.advance("30 seconds");
    expect(await app.counts()).toMatchObject({ complete: 2 });
    expect(most).toBe(1);
  });

  test("work under way goes before new starts", async () => {
    const order: string[] = [];
    const nap = defineWorkflow({ name: "nap" }, async (event, step) => {
      await step.sleep("nap", "1 minute");
      order.push(event.instanceId);
    });
    const { runtime, process } = world({ nap, five });
    const { app } = process();
    await app.workflows.nap.create({ id: "resumed" });
    await app.tick();
    for (let count = 0; count < 100; count++) await app.workflows.five.create({ id: `new-${count}` });
    await runtime.advance("1 minute");
    await app.tick({ maxInstances: 1 });
    expect(order).toEqual(["resumed"]);
  });
});

describe("two processes", () => {
  test("one that starts does not touch the live work of the other", async () => {
    const gate = createGate();
    let runs = 0;
    const slow = defineWorkflow({ name: "slow" }, async (_, step) =>
      step.do("a", { timeout: "1 day" }, async () => {
        runs++;
        await gate.wait();
        return runs;
      }),
    );
    const { runtime, process } = world({ slow });
    const [first, second] = [process(), process()];
    await first.app.start();
    const instance = await first.app.workflows.slow.create();
    await runtime.settle();
    await second.app.start();
    // Twenty leases long: renewals keep it.
    await runtime.advance("10 minutes");
    expect(runs).toBe(1);
    await gate.open();
    await runtime.settle();
    expect(await instance.status()).toEqual({ status: "complete", output: 1 });
  });

  test("one that was frozen for longer than its lease finds its work taken and changes nothing", async () => {
    const runsOf: string[] = [];
    let name = "first";
    const gates: Record<string, ReturnType<typeof createGate>> = {
      first: createGate(),
      second: createGate(),
    };
    const slow = defineWorkflow({ name: "slow" }, async (_, step) =>
      step.do("a", async () => {
        const own = name;
        runsOf.push(own);
        await gates[own]?.wait();
        return own;
      }),
    );
    const { runtime, process } = world({ slow });
    const [first, other] = [process(), process()];
    await first.app.start();
    const instance = await first.app.workflows.slow.create();
    await runtime.settle();
    // From now on the first one cannot reach the store.
    first.store.plan(() => () => new Promise(() => {}));
    name = "second";
    await other.app.start();
    await runtime.advance("2 minutes");
    expect(runsOf).toEqual(["first", "second"]);
    await gates.first?.open();
    await gates.second?.open();
    await runtime.settle();
    const seen = await (await other.app.workflows.slow.get(instance.id)).status();
    expect(seen).toEqual({ status: "complete", output: "second" });
  });

  test("a run that comes back to its own runner has one live turn: the new one", async () => {
    const gates = [createGate(), createGate()];
    const signals: AbortSignal[] = [];
    const slow = defineWorkflow({ name: "slow" }, async (_, step) =>
      step.do("a", { timeout: "1 day" }, async ({ signal }) => {
        const at = signals.push(signal) - 1;
        await gates[at]?.wait();
        return at;
      }),
    );
    const { runtime, process } = world({ slow });
    const { app, store } = process();
    await app.start();
    const instance = await app.workflows.slow.create();
    await runtime.settle();
    // The wall clock is set forward: by it the lease has run out, although it is held, and it cannot be renewed in time.
    const fault = store.fail("renew", "conflict");
    runtime.setWallClock(runtime.now() + 60_000);
    await runtime.advance("5 seconds");
    fault.remove();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    // The old turn's end takes nothing away from the new one: it is renewed like any other.
    await gates[0]?.open();
    await runtime.advance("5 minutes");
    expect(signals).toHaveLength(2);
    await gates[1]?.open();
    await runtime.settle();
    expect(await instance.status()).toEqual({ status: "complete", output: 1 });
  });

  test("a run whose commit is refused though nobody took it over goes on at once", async () => {
    let starts = 0;
    const quick = defineWorkflow({ name: "quick" }, async (_, step) =>
      step.do("a", async () => {
        starts += 1;
        return starts;
      }),
    );
    const { runtime, process } = world({ quick });
    const { app, store } = process();
    await app.start();
    // As after a failover that has lost what the turn built on.
    const fault = store.plan(({ verbs }) => {
      if (!verbs.includes("commit")) return null;
      fault.remove();
      return async () => [{ kind: "superseded" }];
    });
    const instance = await app.workflows.quick.create();
    await runtime.advance("2 seconds");
    expect(await instance.status()).toEqual({ status: "complete", output: 2 });
  });

  test("a due run whose row was locked when it was claimed is looked for again soon, and ever later", async () => {
    const quick = defineWorkflow({ name: "quick" }, async () => "done");
    const { runtime, process } = world({ quick });
    const [idle, other] = [process(), process()];
    await idle.app.start();
    await runtime.advance("5 minutes");
    // As where an event for the run is being written: a claim passes it over.
    const locked = idle.store.plan(({ method }) => (method === "claim" ? async () => [] : null));
    const instance = await other.app.workflows.quick.create();
    await runtime.advance("40 seconds");
    idle.calls();
    await runtime.advance("10 seconds");
    expect(idle.calls().claim).toBe(20);
    locked.remove();
    await runtime.advance(500);
    expect(await instance.status()).toEqual({ status: "complete", output: "done" });
  });

  test("a zombie's commit that arrives late is refused", async () => {
    let name = "first";
    const gate = createGate();
    const slow = defineWorkflow({ name: "slow" }, async (_, step) =>
      step.do("a", async () => {
        const own = name;
        if (own === "first") await gate.wait();
        return own;
      }),
    );
    const { runtime, process } = world({ slow });
    const [first, other] = [process(), process()];
    await first.app.start();
    const instance = await first.app.workflows.slow.create();
    await runtime.settle();
    const stop = first.store.stopBefore("commit");
    await gate.open();
    await runtime.settle();
    expect(stop.isReached).toBe(true);
    first.store.plan((call) => (call.method === "renew" ? () => new Promise(() => {}) : null));
    name = "second";
    await other.app.start();
    await runtime.advance("2 minutes");
    expect(await stop.continue()).toBe("superseded");
    await runtime.settle();
    expect(await (await other.app.workflows.slow.get(instance.id)).status()).toMatchObject({
      output: "second",
    });
  });
});

describe("a burst of due runs", () => {
  const gated = () => {
    const gate = createGate();
    const hold = defineWorkflow({ name: "hold" }, async (_, step) => step.do("hold", () => gate.wait()));
    return { gate, hold };
  };

  test("is shared by the runners that are there", async () => {
    const { gate, hold } = gated();
    const { runtime, database, process } = world({ hold });
    const [creator, a, b] = [process(), process(), process()];
    for (let n = 0; n < 300; n += 1) await creator?.app.workflows.hold.create();
    await Promise.all([a?.app.start(), b?.app.start()]);
    await runtime.settle();
    const owners = [...database.runs.values()].map(({ row }) => row.owner);
    const counts = [...new Set(owners)].map((owner) => owners.filter((each) => each === owner).length);
    expect(counts.length).toBe(2);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(100);
    await gate.open();
  });

  test("is taken wholly by one that is alone, up to its capacity", async () => {
    const { gate, hold } = gated();
    const { runtime, database, process } = world({ hold });
    const [creator, alone] = [process(), process({ concurrency: 250 })];
    for (let n = 0; n < 300; n += 1) await creator?.app.workflows.hold.create();
    await alone?.app.start();
    await runtime.settle();
    expect([...database.runs.values()].filter(({ row }) => row.lane === lanes.held)).toHaveLength(250);
    await gate.open();
  });
});
