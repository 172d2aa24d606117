import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createGate } from "./gate.ts";
import { createTestHarness } from "./harness.ts";

const second = 1000;
const hour = 3600 * second;

const empty = defineWorkflow({ name: "empty" }, () => null);

describe("nothing happens by itself", () => {
  const order = defineWorkflow({ name: "order" }, async (event, step) => {
    const charged = await step.do("charge", async () => event.payload.amount);
    await step.sleep("cool-off", "1 hour");
    const approval = await step.waitForEvent("approval", { type: "approved", timeout: "3 days" });
    await step.log.info("approved", { by: approval.payload.by });
    return { charged, by: approval.payload.by };
  });

  test("an instance runs when the test ticks", async () => {
    const harness = createTestHarness({ workflows: { ORDER: order } });
    await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 5 } });
    await harness.clock.advance("1 day");
    expect(await harness.steps("order-1")).toEqual([]);
    expect(await harness.tick()).toBe(1);
    expect(await harness.tick()).toBe(0);
    expect(await harness.steps("order-1")).toEqual(["charge completed", "cool-off waiting"]);
  });

  test("a store that takes a while to say who lives is waited for", async () => {
    const aWhile = <Answer>(answer: Answer): Promise<Answer> =>
      new Promise((resolve) => setTimeout(() => resolve(answer), 20));
    const ownership = {
      hold: () => aWhile({ release: () => aWhile(undefined) }),
      findDead: () => aWhile([]),
      bury: () => aWhile(undefined),
    };
    const store = Object.assign(memory(), { ownership });
    const harness = createTestHarness({ workflows: { ORDER: order }, store: () => store });
    await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 5 } });
    await harness.runUntilIdle();
    expect(await harness.steps("order-1")).toEqual(["charge completed", "cool-off waiting"]);
  });

  test("a sleep is over when the clock has passed it, an event is taken, and all of it can be looked at", async () => {
    const harness = createTestHarness({ workflows: { ORDER: order } });
    const instance = await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 5 } });
    await harness.runUntilIdle();
    await harness.advance("59 minutes");
    expect(await harness.steps("order-1")).toEqual(["charge completed", "cool-off waiting"]);
    await harness.advance("1 minute");
    expect(await harness.status("order-1")).toEqual({ status: "waiting" });
    await harness.sendEvent("order-1", { type: "approved", payload: { by: "ann" } });
    await harness.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "complete", output: { charged: 5, by: "ann" } });
    expect((await harness.logs("order-1")).map((line) => line.message)).toEqual(["approved"]);
    const { steps, events } = await harness.history("order-1");
    expect(steps.map((step) => step.status)).toEqual(["completed", "completed", "completed"]);
    expect(events).toMatchObject([{ type: "approved", consumedByStepKey: "approval" }]);
  });

  test("a waiting event times out by the clock", async () => {
    const harness = createTestHarness({ workflows: { ORDER: order } });
    await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 5 } });
    await harness.advance("1 hour");
    await harness.advance("3 days");
    expect(await harness.status("order-1")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
  });

  test("with autoRun the runners take up what is due by themselves", async () => {
    const harness = createTestHarness({ workflows: { ORDER: order }, autoRun: true });
    const instance = await harness.workflows.ORDER.create({ id: "order-1", params: { amount: 5 } });
    await harness.settle();
    expect(await harness.steps(instance)).toEqual(["charge completed", "cool-off waiting"]);
    await harness.advance("1 hour");
    await instance.sendEvent({ type: "approved", payload: { by: "bob" } });
    await harness.settle();
    expect(await instance.result()).toMatchObject({ status: "complete", output: { by: "bob" } });
  });
});

describe("the clock", () => {
  test("each wake comes at its own time and in order, not all at the end", async () => {
    const wakes: string[] = [];
    const sleeper = defineWorkflow<{ hours: number }>({ name: "sleeper" }, async (event, step) => {
      for (let night = 1; night <= 3; night++) {
        await step.sleep(`night ${night}`, event.payload.hours * hour);
        await step.do(`wake ${night}`, async () => {
          wakes.push(`${event.instanceId} at ${harness.runtime.monotonic() / hour}`);
        });
      }
    });
    const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
    await harness.workflows.SLEEPER.create({ id: "two", params: { hours: 2 } });
    await harness.workflows.SLEEPER.create({ id: "three", params: { hours: 3 } });
    await harness.advance("1 day");
    expect(wakes).toEqual(["two at 2", "three at 3", "two at 4", "two at 6", "three at 6", "three at 9"]);
    expect(harness.clock.now()).toEqual(new Date("2026-01-02T00:00:00Z"));
  });

  test("retries follow with their backoff", async () => {
    const attempts: number[] = [];
    const flaky = defineWorkflow({ name: "flaky" }, (_event, step) =>
      step.do("call", { retries: { limit: 3, delay: "10 seconds", backoff: "exponential" } }, async () => {
        attempts.push(harness.runtime.monotonic() / second);
        if (attempts.length < 4) throw new Error("down");
        return "up";
      }),
    );
    const harness = createTestHarness({ workflows: { FLAKY: flaky } });
    await harness.workflows.FLAKY.create({ id: "it" });
    await harness.advance("5 minutes");
    expect(await harness.status("it")).toEqual({ status: "complete", output: "up" });
    expect(attempts).toEqual([0, 10, 30, 70]);
  });

  test("an attempt times out by the clock while its turn is held open", async () => {
    const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.do("call", { timeout: "5 minutes", retries: false }, async () => {
        await harness.clock.sleep("1 day");
      });
    });
    const harness = createTestHarness({ workflows: { SLOW: slow } });
    await harness.workflows.SLOW.create({ id: "it" });
    expect(await harness.tick()).toBe(1);
    await harness.clock.advance("4 minutes");
    expect(await harness.status("it")).toEqual({ status: "active" });
    await harness.clock.advance("1 minute");
    expect(await harness.status("it")).toMatchObject({ status: "errored", error: { code: "STEP_TIMEOUT" } });
  });

  test("goes to a time, and a wall clock can be set", async () => {
    const sleeper = defineWorkflow({ name: "sleeper" }, (_event, step) =>
      step.sleepUntil("new year", new Date("2027-01-01T00:00:00Z")),
    );
    const harness = createTestHarness({
      workflows: { SLEEPER: sleeper },
      now: new Date("2026-12-31T00:00:00Z"),
    });
    await harness.workflows.SLEEPER.create({ id: "it" });
    await harness.advanceTo(new Date("2026-12-31T23:59:59Z"));
    expect(await harness.status("it")).toEqual({ status: "waiting" });
    await harness.advanceTo(Date.UTC(2027, 0, 1));
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });

  test("ids are reproducible by their seed", async () => {
    const idOf = async (seed: number): Promise<string> => {
      const harness = createTestHarness({ workflows: { EMPTY: empty }, seed });
      return (await harness.workflows.EMPTY.create()).id;
    };
    expect(await idOf(1)).toBe(await idOf(1));
    expect(await idOf(1)).not.toBe(await idOf(2));
  });

  test("a whole day repeats with its seed, ids and jitter included", async () => {
    const day = async (seed: number) => {
      const flaky = defineWorkflow({ name: "flaky" }, async (_event, step) => {
        const { attempt } = await step.do("call", async ({ attempt, idempotencyKey }) => {
          if (attempt < 3) throw new Error(`${idempotencyKey} is down`);
          return { attempt };
        });
        await step.sleep("nap", "1 hour");
        return attempt;
      });
      const harness = createTestHarness({ workflows: { FLAKY: flaky }, seed });
      const instance = await harness.workflows.FLAKY.create();
      await harness.runner("a").tick();
      harness.runner("a").kill();
      await harness.advance("1 day");
      const { steps } = await harness.history(instance);
      return { id: instance.id, ...(await harness.status(instance)), steps };
    };
    expect(await day(5)).toEqual(await day(5));
    expect((await day(5)).id).not.toBe((await day(6)).id);
  });

  test("is not moved to nowhere", async () => {
    const harness = createTestHarness({ workflows: { EMPTY: empty } });
    await expect(harness.advanceTo(new Date("never"))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(harness.advanceTo(0)).rejects.toThrow("cannot go back");
  });

  test("passes over what is due and held back by a concurrency cap", async () => {
    const gate = createGate();
    const capped = defineWorkflow({ name: "capped", concurrency: 1 }, (_event, step) =>
      step.do("work", { timeout: "1 day" }, () => gate.wait()),
    );
    const later = defineWorkflow({ name: "later" }, (_event, step) => step.sleep("nap", "2 hours"));
    const harness = createTestHarness({ workflows: { CAPPED: capped, LATER: later } });
    await harness.workflows.CAPPED.createBatch([{ id: "first" }, { id: "second" }]);
    await harness.workflows.LATER.create({ id: "later" });
    await harness.runUntilIdle();
    await harness.advance("2 hours");
    expect(await harness.status("later")).toMatchObject({ status: "complete" });
    expect(gate.arrivals).toBe(1);
    await gate.open();
    expect(await harness.status("first")).toMatchObject({ status: "complete" });
  });
});

describe("the rule of waiting", () => {
  test("a body waits at a gate until the test lets it pass", async () => {
    const gate = createGate();
    const held = defineWorkflow({ name: "held" }, (_event, step) =>
      step.do("work", async () => {
        await gate.wait();
        return "passed";
      }),
    );
    const harness = createTestHarness({ workflows: { HELD: held }, patience: "1 hour" });
    await harness.workflows.HELD.create({ id: "it" });
    expect(await harness.tick()).toBe(1);
    expect([gate.arrivals, await harness.status("it")]).toEqual([1, { status: "active" }]);
    await gate.open();
    expect(await harness.status("it")).toEqual({ status: "complete", output: "passed" });
    await gate.wait();
  });

  test("real work is waited for, as long as patience lasts", async () => {
    const working = defineWorkflow<{ ms: number }>({ name: "working" }, async (event, step) => {
      await Promise.all(
        [1, 2, 3].map((n) =>
          step.do(`part ${n}`, () => new Promise((resolve) => setTimeout(resolve, event.payload.ms))),
        ),
      );
      return "done";
    });
    const harness = createTestHarness({ workflows: { WORKING: working }, patience: 100 });
    await harness.workflows.WORKING.create({ id: "quick", params: { ms: 5 } });
    await harness.tick();
    expect(await harness.status("quick")).toEqual({ status: "complete", output: "done" });
    await harness.workflows.WORKING.create({ id: "slow", params: { ms: 200 } });
    await harness.tick();
    expect(await harness.status("slow")).toEqual({ status: "active" });
    await harness.waitUntil(async () => (await harness.status("slow")).status === "complete");
  });

  test("a body in a nested step waits for the clock, not for patience", async () => {
    const nested = defineWorkflow({ name: "nested" }, (_event, step) =>
      step.do("outer", { timeout: "1 day" }, async () => {
        await step.sleep("nap", "1 hour");
        return step.do("inner", async () => "rested");
      }),
    );
    const harness = createTestHarness({ workflows: { NESTED: nested }, patience: "1 hour" });
    await harness.workflows.NESTED.create({ id: "it" });
    await harness.tick();
    expect(await harness.steps("it")).toEqual(["outer/nap waiting"]);
    await harness.advance("1 hour");
    expect(await harness.status("it")).toEqual({ status: "complete", output: "rested" });
    expect((await harness.steps("it")).toSorted()).toEqual([
      "outer completed",
      "outer/inner completed",
      "outer/nap completed",
    ]);
  });

  test("a tick that cannot reach the store says why", async () => {
    const harness = createTestHarness({ workflows: { EMPTY: empty } });
    harness.runner().faults.fail("claim", "unavailable");
    await expect(harness.tick()).rejects.toMatchObject({ failure: "unavailable" });
    expect(await harness.tick()).toBe(0);
  });

  test("limits of a tick are those of the app", async () => {
    const harness = createTestHarness({ workflows: { EMPTY: empty } });
    await harness.workflows.EMPTY.createBatch(["a", "b", "c"].map((id) => ({ id })));
    expect(await harness.tick({ maxInstances: 2 })).toBe(2);
    expect(await harness.runUntilIdle()).toBe(1);
  });

  test("an instance that is always due is named instead of run for ever", async () => {
    const restless = defineWorkflow({ name: "restless" }, async (event, step) => {
      await step.do("again", { repeat: true }, async (context) => {
        context.startWorkflow("restless", { id: `${event.instanceId}x` });
      });
    });
    const harness = createTestHarness({ workflows: { RESTLESS: restless } });
    await harness.workflows.RESTLESS.create({ id: "it" });
    await expect(harness.runUntilIdle({ maxTicks: 3 })).rejects.toThrow(
      'still something due after 3 ticks: "itxxx" of workflow "restless" (active)',
    );
  });
});

describe("finding instances", () => {
  const other = defineWorkflow({ name: "other" }, () => "other");

  test("an id is enough where it is unique, else the workflow or the handle says which", async () => {
    const harness = createTestHarness({ workflows: { EMPTY: empty, OTHER: other } });
    await harness.workflows.EMPTY.create({ id: "a" });
    const handle = await harness.workflows.OTHER.create({ id: "a" });
    await harness.runUntilIdle();
    await expect(harness.status("a")).rejects.toThrow('Several workflows have an instance "a": empty, other');
    expect(await harness.status({ workflow: "other", id: "a" })).toMatchObject({ output: "other" });
    expect(await harness.status({ workflow: "EMPTY", id: "a" })).toMatchObject({ output: null });
    expect(await harness.status(handle)).toMatchObject({ output: "other" });
  });

  test("what is not there is said clearly", async () => {
    const harness = createTestHarness({ workflows: { EMPTY: empty } });
    await expect(harness.status("nobody")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    expect(() => harness.mock("NOTHING")).toThrow('no workflow "NOTHING"');
  });

  test("long histories, logs and earlier runs are read whole", async () => {
    const long = defineWorkflow({ name: "long" }, async (_event, step) => {
      for (let n = 0; n < 60; n++) {
        await step.do("part", () => n);
        await step.log.info(`line ${n}`);
      }
    });
    const harness = createTestHarness({ workflows: { LONG: long } });
    const instance = await harness.workflows.LONG.create({ id: "it" });
    for (let n = 0; n < 30; n++) await instance.sendEvent({ type: "note", payload: n });
    await harness.runUntilIdle();
    expect((await harness.steps("it")).at(-1)).toBe("part#60 completed");
    expect(await harness.logs("it")).toHaveLength(60);
    expect((await harness.history("it")).events).toHaveLength(30);
    await instance.restart();
    expect(await harness.steps("it")).toEqual([]);
    expect(await harness.steps("it", { runNumber: 1 })).toHaveLength(60);
  });
});

describe("stores", () => {
  test("a function gives every runner a handle of its own on the same data", async () => {
    const database = createMemoryDatabase();
    let opened = 0;
    const store = () => {
      opened++;
      return memory({ database });
    };
    const harness = createTestHarness({ workflows: { EMPTY: empty }, store });
    await harness.workflows.EMPTY.create({ id: "it" });
    const before = opened;
    await harness.runner("a").tick();
    expect(opened).toBe(before + 1);
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });

  test("a store is shared, and closed at the end", async () => {
    const store = memory();
    const harness = createTestHarness({ workflows: { EMPTY: empty }, store });
    await harness.workflows.EMPTY.create({ id: "it" });
    await harness.runner("a").tick();
    await harness.runner("a").stop();
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
    await harness[Symbol.asyncDispose]();
    await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});

test("at(id) gives a handle at once, as an app does, also after its runner was replaced", async () => {
  const harness = createTestHarness({ workflows: { EMPTY: empty } });
  await harness.workflows.EMPTY.create({ id: "it" });
  await harness.runUntilIdle();
  const handle = harness.workflows.EMPTY.at("it");
  expect(handle.id).toBe("it");
  expect(await handle.status()).toMatchObject({ status: "complete" });
  await harness.restartRunner();
  expect(await handle.status()).toMatchObject({ status: "complete" });
  expect(() => harness.workflows.EMPTY.at("-")).toThrow(/instance id/);
  await expect(harness.workflows.EMPTY.at("nobody").status()).rejects.toMatchObject({
    code: "INSTANCE_NOT_FOUND",
  });
});
