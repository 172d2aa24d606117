import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createGate } from "./gate.ts";
import { createTestHarness } from "./harness.ts";

/** Charges and ships; says what its bodies did. */
function chargeThenShip(inShip: () => unknown = () => {}) {
  const done: string[] = [];
  const workflow = defineWorkflow({ name: "order" }, async (_event, step) => {
    await step.do("charge", () => void done.push("charge"));
    await step.do("ship", async () => {
      done.push("ship");
      await inShip();
    });
  });
  return { workflow, done };
}

describe("several runners over one database", () => {
  test("an instance has its turn on one of them", async () => {
    const { workflow, done } = chargeThenShip();
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.createBatch([{ id: "a" }, { id: "b" }]);
    const one = harness.runner("one");
    const two = harness.runner("two");
    expect([await one.tick({ maxInstances: 1 }), await two.tick(), await one.tick()]).toEqual([1, 1, 0]);
    expect(done).toEqual(["charge", "ship", "charge", "ship"]);
    expect(harness.runner("one")).toBe(one);
  });

  test("they may tick at the same time", async () => {
    const { workflow, done } = chargeThenShip();
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.createBatch(Array.from({ length: 20 }, (_, n) => ({ id: `order-${n}` })));
    const names = ["one", "two", "three"];
    const turns = await Promise.all(names.map((name) => harness.runner(name).tick({ maxInstances: 8 })));
    expect(turns.reduce((sum, taken) => sum + taken)).toBe(20);
    expect(done).toHaveLength(40);
  });

  test("the named ones take the turns while the clock advances", async () => {
    const sleeper = defineWorkflow({ name: "sleeper" }, (_event, step) => step.sleep("nap", "1 hour"));
    const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
    await harness.workflows.SLEEPER.create({ id: "it" });
    await harness.advance("1 hour", { runners: ["a", "b"] });
    expect(harness.runner("main").faults.count("claim")).toBe(0);
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });

  test("a loop can be started on any of them, and stopped gracefully", async () => {
    const gate = createGate();
    const { workflow, done } = chargeThenShip(() => gate.wait());
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    const looping = harness.runner("looping");
    await looping.start();
    await harness.workflows.ORDER.create({ id: "it" });
    await harness.clock.advance("30 seconds");
    expect(done).toEqual(["charge", "ship"]);
    const stopping = looping.stop({ grace: "5 seconds" });
    await harness.clock.advance("5 seconds");
    expect(await stopping).toEqual({ finished: 0, released: 1 });
    await gate.open();
    await harness.runUntilIdle();
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
    expect(done).toEqual(["charge", "ship", "ship"]);
  });
});

describe("a killed runner", () => {
  test("leaves its lease, and another goes on from what was recorded when it has run out", async () => {
    const gate = createGate();
    const { workflow, done } = chargeThenShip(() => gate.wait());
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.create({ id: "it" });
    await harness.runner("a").tick();
    harness.runner("a").kill();
    await gate.open();
    expect(await harness.steps("it")).toEqual(["charge completed"]);
    expect(await harness.tick()).toBe(0);
    await harness.advance("31 seconds");
    expect(done).toEqual(["charge", "ship", "ship"]);
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });

  test("does nothing any more: a body it held at a gate never passes", async () => {
    const gate = createGate();
    let passed = 0;
    const { workflow } = chargeThenShip(async () => {
      await gate.wait();
      passed++;
    });
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.create({ id: "it" });
    await harness.tick();
    harness.runner().kill();
    const writes = harness.runner().faults.count("write");
    await gate.open();
    await harness.clock.advance("1 hour");
    expect([passed, harness.runner().faults.count("write")]).toEqual([0, writes]);
  });

  test("cannot tick, and says how to bring it back", async () => {
    const { workflow } = chargeThenShip();
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    harness.runner("a").kill();
    await expect(harness.runner("a").tick()).rejects.toThrow('harness.restartRunner("a")');
    await harness.restartRunner("a");
    expect(await harness.runner("a").tick()).toBe(0);
  });

  test("leaves the harness able to look, to create and to send", async () => {
    const waiter = defineWorkflow({ name: "waiter" }, (_event, step) =>
      step.waitForEvent("wait", { type: "go" }),
    );
    const harness = createTestHarness({ workflows: { WAITER: waiter } });
    const instance = await harness.workflows.WAITER.create({ id: "it" });
    await harness.tick();
    harness.runner().kill();
    expect(await instance.status()).toEqual({ status: "waiting" });
    await harness.sendEvent("it", { type: "go" });
    await harness.workflows.WAITER.create({ id: "other" });
    await harness.restartRunner();
    await harness.runUntilIdle();
    expect(await instance.status()).toMatchObject({ status: "complete" });
    expect(await harness.status("other")).toEqual({ status: "waiting" });
  });
});

describe("a restarted runner", () => {
  test("knows nothing but what was recorded", async () => {
    const passages: string[] = [];
    const sleeper = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
      passages.push("begins");
      await step.do("charge", () => void passages.push("charges"));
      await step.sleep("nap", "1 hour");
      passages.push("goes on");
    });
    const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
    const instance = await harness.workflows.SLEEPER.create({ id: "it" });
    await harness.runUntilIdle();
    await harness.restartRunner();
    await harness.advance("1 hour");
    expect(passages).toEqual(["begins", "charges", "begins", "goes on"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("without a restart the instance goes on where it was", async () => {
    let begun = 0;
    const sleeper = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
      begun++;
      await step.sleep("nap", "1 hour");
    });
    const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
    await harness.workflows.SLEEPER.create({ id: "it" });
    await harness.advance("1 hour");
    expect([begun, await harness.status("it")]).toMatchObject([1, { status: "complete" }]);
  });

  test("handles of all kinds stay good", async () => {
    const { workflow } = chargeThenShip();
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    const orders = harness.workflows.ORDER;
    const [first] = await orders.createBatch([{ id: "a" }]);
    const { instance: second } = await orders.restartOrCreate({ id: "b" });
    await harness.runUntilIdle();
    const third = await second.fork({ newId: "c" });
    await harness.restartRunner();
    const fourth = await orders.get("a");
    for (const instance of [first, second, fourth]) {
      expect(await instance?.status()).toMatchObject({ status: "complete" });
    }
    await harness.restartRunner();
    await harness.runUntilIdle();
    expect(await third.status()).toMatchObject({ status: "complete" });
    expect([orders.name, third.id]).toEqual(["order", "c"]);
  });
});

describe("a frozen runner", () => {
  test("does not move until it is thawed, and then finds its lease gone", async () => {
    const gate = createGate();
    const { workflow, done } = chargeThenShip(() => (done.length === 2 ? gate.wait() : undefined));
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.create({ id: "it" });
    const frozen = harness.runner("frozen");
    await frozen.tick();
    frozen.freeze();
    await gate.open();
    await expect(frozen.tick()).rejects.toThrow("is frozen");
    await harness.advance("31 seconds");
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
    const before = await harness.history("it");
    await frozen.thaw();
    expect(await harness.history("it")).toEqual(before);
    expect(done).toEqual(["charge", "ship", "ship"]);
    expect(await frozen.tick()).toBe(0);
  });

  test("renews nothing while a living one keeps its lease", async () => {
    const gate = createGate();
    const { workflow, done } = chargeThenShip(() => gate.wait());
    const harness = createTestHarness({ workflows: { ORDER: workflow } });
    await harness.workflows.ORDER.create({ id: "it" });
    await harness.runner("alive").tick();
    await harness.advance("5 minutes");
    expect(harness.runner("alive").faults.count("renew")).toBeGreaterThan(20);
    expect(done).toEqual(["charge", "ship"]);
    await gate.open();
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });
});

test("a runner whose clock is ahead sees things due that are not for the others", async () => {
  const sleeper = defineWorkflow({ name: "sleeper" }, (_event, step) => step.sleep("nap", "1 hour"));
  const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
  await harness.workflows.SLEEPER.create({ id: "it" });
  await harness.tick();
  harness.runner("ahead").skewClock("2 hours");
  expect(await harness.tick()).toBe(0);
  expect(await harness.runner("ahead").tick()).toBe(1);
});

test("what is nobody's result is reported", async () => {
  const { workflow } = chargeThenShip();
  const harness = createTestHarness({ workflows: { ORDER: workflow }, autoRun: true });
  await harness.settle();
  harness.runner().faults.fail("claim", "fatal");
  await harness.advance("1 minute");
  expect(harness.problems).toMatchObject([{ failure: "fatal" }]);
});
