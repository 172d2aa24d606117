import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createTestHarness } from "../testing/harness.ts";

const hopeless = defineWorkflow({ name: "hopeless" }, async (_event, step) => {
  await step.do("charge", { retries: false }, async () => {
    throw new Error("declined");
  });
});

test("a retry decided on by two people at once takes no attempt back (INV-10, INV-35)", async () => {
  const harness = createTestHarness({ workflows: { HOPELESS: hopeless } });
  const charged = async () => (await harness.history("it")).steps[0];
  const instance = await harness.workflows.HOPELESS.create({ id: "it" });
  await harness.tick();
  const slow = harness.runner("slow");
  const stop = slow.stopBefore("change");
  const late = (await slow.workflows.HOPELESS.get("it")).retryFailedStep();
  await harness.settle();
  expect(stop.isReached).toBe(true);
  await instance.retryFailedStep();
  await harness.tick();
  expect(await charged()).toMatchObject({ status: "errored", attempts: 2 });
  expect(await stop.continue()).toBe("refused");
  await late;
  await harness.tick();
  expect(await charged()).toMatchObject({ status: "errored", attempts: 3 });
  await harness.stop();
});

test("the errors of a retried step say when somebody retried it, and when the attempt was due", async () => {
  const harness = createTestHarness({ workflows: { HOPELESS: hopeless } });
  const instance = await harness.workflows.HOPELESS.create({ id: "it" });
  await harness.tick();
  await harness.advance("9 minutes");
  const reopenedAt = new Date(harness.runtime.now());
  await instance.retryFailedStep({ delay: "1 minute" });
  await harness.advance("1 minute");
  const [first, last] = (await harness.history("it")).steps[0]?.errors ?? [];
  expect(first).toMatchObject({ reopenedAt, retryAt: new Date(reopenedAt.getTime() + 60_000) });
  expect(last).toMatchObject({ attempt: 2, retryAt: null });
  expect(last).not.toHaveProperty("reopenedAt");
  await harness.stop();
});

test("a retry of a run that was restarted meanwhile is one of the run there is now (INV-38)", async () => {
  const harness = createTestHarness({ workflows: { HOPELESS: hopeless } });
  const instance = await harness.workflows.HOPELESS.create({ id: "it" });
  await harness.tick();
  const slow = harness.runner("slow");
  const stop = slow.stopBefore("change");
  const late = (await slow.workflows.HOPELESS.get("it")).retryFailedStep();
  await harness.settle();
  await harness.advance("1 minute");
  await instance.restart();
  await harness.tick();
  const { steps: before } = await harness.history("it");
  expect(await stop.continue()).toBe("refused");
  await late;
  await harness.tick();
  const { steps: after } = await harness.history("it");
  expect(after[0]).toMatchObject({ attempts: 2, createdAt: before[0]?.createdAt });
  await harness.stop();
});

test("who asks for a retry while another's is being made hears that it is no longer errored (INV-35)", async () => {
  const harness = createTestHarness({ workflows: { HOPELESS: hopeless } });
  const instance = await harness.workflows.HOPELESS.create({ id: "it" });
  await harness.tick();
  const slow = harness.runner("slow");
  const handle = await slow.workflows.HOPELESS.get("it");
  const stop = slow.stopBefore("listSteps");
  const refused = expect(handle.retryFailedStep()).rejects.toMatchObject({ code: "INSTANCE_NOT_ERRORED" });
  await harness.settle();
  expect(stop.isReached).toBe(true);
  await instance.retryFailedStep();
  await stop.continue();
  await refused;
  await harness.stop();
});
