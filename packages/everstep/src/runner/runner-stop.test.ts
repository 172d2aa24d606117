import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import type { Ownership, Store } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";

/** A workflow of two steps whose first body ends when the gate opens. */
function begin() {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const gate = createGate();
  const ran: string[] = [];
  const problems: unknown[] = [];
  let signal: AbortSignal | undefined;
  const slow = defineWorkflow({ name: "slow" }, async (_, step) => {
    await step.do("first", { timeout: "1 day" }, async (context) => {
      ran.push("first");
      signal = context.signal;
      await gate.wait();
    });
    await step.do("second", async () => ran.push("second"));
    return "done";
  });
  const process = (around: (store: Store) => Store = (store) => store) => {
    const store = createFaultyStore(around(memory({ database })));
    const app = createWorkflows({
      workflows: { slow },
      store,
      runtime,
      onProblem: (problem) => problems.push(problem),
    });
    return { app, store };
  };
  const look = (id = "1") => memory({ database }).getInstance({ workflowName: "slow", instanceId: id });
  return { runtime, gate, ran, problems, process, look, signal: () => signal };
}

/** What a promise has come to by now. */
function watch<Result>(promise: Promise<Result>): { result: Result | undefined } {
  const seen: { result: Result | undefined } = { result: undefined };
  void promise.then((result) => {
    seen.result = result;
  });
  return seen;
}

describe("stopping", () => {
  test("waits for the body in flight, records it, starts nothing new and gives the run back", async () => {
    const { runtime, gate, ran, process, look } = begin();
    const { app } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    const stopping = watch(app.stop());
    await runtime.advance("10 seconds");
    expect(stopping.result).toBeUndefined();
    await gate.open();
    await runtime.settle();
    expect(stopping.result).toEqual({ finished: 1, released: 0 });
    expect(ran).toEqual(["first"]);
    expect(await look()).toMatchObject({
      status: "active",
      executing: false,
      dueAt: runtime.now(),
      crashCount: 0,
    });
    const next = process();
    await next.app.tick();
    expect(ran).toEqual(["first", "second"]);
    expect(await look()).toMatchObject({ status: "complete" });
  });

  test("gives back a run it had lost by its own clock and that a late renewal kept for it", async () => {
    const { runtime, process, look } = begin();
    const { app, store } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    // Renewals take effect, and nobody hears of it before the lease is over by the runner's own clock.
    const unheard = (apply: () => Promise<unknown>): Promise<unknown> =>
      apply().then(() => new Promise(() => {}));
    store.plan(({ method }) => (method === "renew" ? unheard : null));
    await runtime.advance("30 seconds");
    expect(store.count("renew")).toBeGreaterThan(0);
    expect(await look()).toMatchObject({ executing: true });
    await app.stop();
    expect(await look()).toMatchObject({ executing: false, dueAt: runtime.now(), crashCount: 0 });
  });

  test("with a body that hangs it returns by its deadline, tells the body and releases the run", async () => {
    const { runtime, ran, process, look, signal } = begin();
    const { app } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    const stopping = watch(app.stop({ grace: "5 seconds" }));
    await runtime.advance(4999);
    expect(stopping.result).toBeUndefined();
    await runtime.advance(1);
    expect(stopping.result).toEqual({ finished: 0, released: 1 });
    expect(signal()?.aborted).toBe(true);
    expect(await look()).toMatchObject({ executing: false, dueAt: runtime.now() });
    // Somebody else goes on at once, without waiting for the lease, and no crash is counted.
    const next = process();
    void next.app.tick();
    await runtime.settle();
    expect(ran).toEqual(["first", "first"]);
    expect(await look()).toMatchObject({ crashCount: 0 });
  });

  test("LIV-6 what is cut off is given back although the store fails for a moment", async () => {
    const { runtime, process, look } = begin();
    const { app, store } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    store.fail("release", "unavailable", { times: 2 });
    const stopping = watch(app.stop({ grace: 0 }));
    await runtime.advance("3 seconds");
    expect(stopping.result).toEqual({ finished: 0, released: 1 });
    expect(await look()).toMatchObject({ status: "active", executing: false, crashCount: 0 });
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("LIV-6 a run that was being claimed when the grace ended is not begun, and is given back", async () => {
    const { runtime, gate, ran, process, look } = begin();
    await process().app.workflows.slow.create({ id: "1" });
    const { app, store } = process();
    store.plan(({ method }) =>
      method === "claim"
        ? async (apply) => {
            const claims = await apply();
            await gate.wait();
            return claims;
          }
        : null,
    );
    await app.start();
    await runtime.settle();
    expect(await look()).toMatchObject({ executing: true });
    const stopping = watch(app.stop({ grace: "1 second" }));
    await runtime.advance("2 seconds");
    await gate.open();
    await runtime.settle();
    expect(stopping.result).toEqual({ finished: 0, released: 0 });
    expect(await look()).toMatchObject({ executing: false, crashCount: 0 });
    expect(ran).toEqual([]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("what a body that was cut off does later leaves no trace", async () => {
    const { runtime, gate, process, look, problems } = begin();
    const { app } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    const stopping = app.stop({ grace: 0 });
    await runtime.settle();
    await stopping;
    const before = await look();
    await gate.open();
    await runtime.advance("1 hour");
    expect(await look()).toEqual(before);
    expect(problems).toEqual([]);
  });

  test("an idle app stops at once and leaves no timer behind", async () => {
    const { runtime, process } = begin();
    const { app } = process();
    await app.start();
    await runtime.settle();
    expect(await app.stop()).toEqual({ finished: 0, released: 0 });
    await runtime.settle();
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("twice is once, also at the same time", async () => {
    const { runtime, gate, process } = begin();
    const { app } = process();
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await runtime.settle();
    const both = [watch(app.stop()), watch(app.stop())];
    await gate.open();
    await runtime.settle();
    expect(both.map(({ result }) => result)).toEqual([
      { finished: 1, released: 0 },
      { finished: 1, released: 0 },
    ]);
    expect(await app.stop()).toEqual({ finished: 0, released: 0 });
  });

  test("afterwards every call says so", async () => {
    const { process } = begin();
    const { app } = process();
    await app.stop();
    await expect(app.workflows.slow.create()).rejects.toMatchObject({ code: "APP_STOPPED" });
    await expect(app.tick()).rejects.toMatchObject({ code: "APP_STOPPED" });
    await expect(app.start()).rejects.toMatchObject({ code: "APP_STOPPED" });
  });

  test("runs that a claim under way brings are given back, none of their code runs", async () => {
    const { runtime, ran, process, look } = begin();
    const creator = process();
    await creator.app.workflows.slow.create({ id: "1" });
    const { app, store } = process();
    const claim = store.stopAfter("claim");
    await app.start();
    await runtime.settle();
    expect(claim.isReached).toBe(true);
    const stopping = watch(app.stop({ grace: "5 seconds" }));
    await runtime.settle();
    void claim.continue();
    await runtime.advance("5 seconds");
    expect(stopping.result).toBeDefined();
    expect(ran).toEqual([]);
    expect(await look()).toMatchObject({ executing: false, crashCount: 0 });
  });

  test("an instance that is created in the same moment is durable and its code does not run here", async () => {
    const { runtime, ran, process, look } = begin();
    const { app, store } = process();
    await app.start();
    await runtime.settle();
    const write = store.stopAfter("create");
    const creating = watch(app.workflows.slow.create({ id: "1" }));
    await runtime.settle();
    expect(write.isReached).toBe(true);
    const stopping = watch(app.stop({ grace: "5 seconds" }));
    await runtime.settle();
    void write.continue();
    await runtime.advance("5 seconds");
    expect(creating.result).toBeDefined();
    expect(stopping.result).toBeDefined();
    expect(ran).toEqual([]);
    expect(await look()).toMatchObject({ status: "active", executing: false });
  });

  test("while it is still starting it does not go on running behind one's back", async () => {
    const { runtime, process } = begin();
    const gate = createGate();
    const ownership: Ownership = {
      hold: async () => {
        await gate.wait();
        return { release: async () => {} };
      },
      findDead: async () => [],
      bury: async () => {},
    };
    const { app, store } = process((inner) =>
      Object.assign(Object.create(Object.getPrototypeOf(inner)), inner, {
        migrate: () => inner.migrate(),
        write: inner.write.bind(inner),
        claim: inner.claim.bind(inner),
        close: inner.close.bind(inner),
        nextDueAt: inner.nextDueAt.bind(inner),
        ownership,
      }),
    );
    const starting = watch(app.start().then(() => "started"));
    await runtime.settle();
    const stopping = watch(app.stop());
    await runtime.settle();
    await gate.open();
    await runtime.settle();
    expect(starting.result).toBe("started");
    expect(stopping.result).toBeDefined();
    await runtime.advance("10 minutes");
    expect(store.count("claim")).toBe(0);
    expect(runtime.nextTimerAt()).toBeNull();
  });
});

describe("starting", () => {
  test("a store that cannot say who is dead does not keep the runner from running", async () => {
    const { runtime, gate, process, look, problems } = begin();
    const ownership: Ownership = {
      hold: async () => ({ release: async () => {} }),
      findDead: async () => {
        throw new Error("no permission");
      },
      bury: async () => {},
    };
    const { app } = process((inner) => {
      const bound = Object.fromEntries(
        [
          "migrate",
          "write",
          "claim",
          "readRuns",
          "renew",
          "release",
          "nextDueAt",
          "getInstance",
          "close",
        ].map((name) => [
          name,
          (inner as never as Record<string, (...args: unknown[]) => unknown>)[name]?.bind(inner),
        ]),
      );
      return { ...bound, capabilities: inner.capabilities, ownership } as unknown as Store;
    });
    await app.start();
    await app.workflows.slow.create({ id: "1" });
    await gate.open();
    await runtime.advance("1 minute");
    expect(await look()).toMatchObject({ status: "complete" });
    expect(problems.length).toBeGreaterThan(0);
  });
});
