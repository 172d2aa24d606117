import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createTestHarness } from "../testing/harness.ts";

const patient = defineWorkflow({ name: "patient" }, async (_event, step) => {
  await step.waitForEvent("reply", { type: "reply" });
});

test("hooks hear of the run that was terminated, also when it was restarted in the same moment", async () => {
  const told: number[] = [];
  const hooks = { onEnded: ({ runNumber }: { readonly runNumber: number }) => void told.push(runNumber) };
  const harness = createTestHarness({ workflows: { PATIENT: patient }, hooks });
  const instance = await harness.workflows.PATIENT.create({ id: "it" });
  await harness.tick();
  const slow = harness.runner("slow");
  const stop = slow.stopBefore("change");
  const ended = (await slow.workflows.PATIENT.get("it")).terminate();
  await harness.settle();
  await instance.restart();
  await harness.tick();
  await stop.continue();
  await ended;
  await harness.runUntilIdle();
  expect(await harness.status("it")).toMatchObject({ status: "terminated" });
  expect(told).toEqual([2]);
  await harness.stop();
});
