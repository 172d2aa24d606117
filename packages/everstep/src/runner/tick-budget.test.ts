import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createGate } from "../testing/gate.ts";
import { createTestHarness } from "../testing/harness.ts";

test("a tick's step budget is its own, whatever older ticks do meanwhile", async () => {
  const gates = { a: createGate(), b: createGate() };
  const ran: string[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
    for (let n = 0; n < 5; n++) {
      await step.do(`s${n}`, async () => {
        ran.push(`${event.instanceId}${n}`);
        if (n === 0) await gates[event.instanceId as "a" | "b"].wait();
      });
    }
  });
  const harness = createTestHarness({ workflows: { W: workflow } });
  await harness.workflows.W.create({ id: "a" });
  await harness.tick();
  await harness.workflows.W.create({ id: "b" });
  await harness.tick({ maxSteps: 1 });
  await gates.a.open();
  await gates.b.open();
  expect(ran).toEqual(["a0", "b0", "a1", "a2", "a3", "a4"]);
  await harness.runUntilIdle();
  expect(ran.slice(6)).toEqual(["b1", "b2", "b3", "b4"]);
  await harness.stop();
});

describe("a body that began when the budget of its tick is spent", () => {
  test("comes to its end with the steps inside it, so that the run gets on with every tick", async () => {
    const ran: string[] = [];
    const body = (name: string) => async () => void ran.push(name);
    const workflow = defineWorkflow({ name: "w" }, async (_, step) => {
      const outer = step.do("outer", async () => {
        ran.push("outer");
        await step.do("first", body("first"));
        await step.do("second", body("second"));
      });
      await Promise.all([outer, step.do("other", body("other"))]);
    });
    const harness = createTestHarness({ workflows: { W: workflow } });
    const instance = await harness.workflows.W.create({ id: "a" });
    await harness.tick({ maxSteps: 1 });
    expect(ran).toEqual(["outer", "first", "second"]);
    await harness.tick({ maxSteps: 1 });
    expect(ran).toEqual(["outer", "first", "second", "other"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
    await harness.stop();
  });

  test("comes to its end though it waits for nothing that it asked for inside", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_, step) => {
      const outer = step.do("outer", async () => {
        ran.push("outer");
        void step.do("stray", async () => {});
      });
      await Promise.all([outer, step.do("other", async () => void ran.push("other"))]);
    });
    const harness = createTestHarness({ workflows: { W: workflow } });
    const instance = await harness.workflows.W.create({ id: "a" });
    for (let tick = 0; tick < 2; tick++) await harness.tick({ maxSteps: 1 });
    expect(ran).toEqual(["outer", "other"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
    await harness.stop();
  });
});
