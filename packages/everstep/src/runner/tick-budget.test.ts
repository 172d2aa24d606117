import { expect, test } from "vitest";
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
