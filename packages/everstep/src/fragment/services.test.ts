import { afterEach, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createWorkflowsFragment } from "./create-workflows-fragment.ts";
import { fragnoRuntime } from "./fragno-runtime.ts";

const order = defineWorkflow({ name: "order" }, async (event, step) => {
  await step.log.info("begins", { id: event.instanceId });
  await step.do("charge", async () => 1);
  await step.sleep("cool off", "1 hour");
  const answer = await step.waitForEvent<string>("approval", { type: "approved", timeout: "1 day" });
  if (answer.payload === "no") throw new Error("declined");
  return answer.payload;
});
const watch = defineWorkflow({ name: "watch" }, async (_, step) => {
  await step.waitForEvent("rates", { topic: "rates" });
});

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const fragment of open.splice(0)) await fragment.stop();
});

function host() {
  const clock = createFakeRuntime();
  const fragment = createWorkflowsFragment(
    { workflows: { ORDER: order, WATCH: watch }, runtime: fragnoRuntime(clock) },
    { store: memory(), onNotice: () => {} },
  );
  open.push(fragment);
  return { clock, services: fragment.services, tick: () => fragment.runner.tick() };
}

test("an instance is created, looked at, steered and told of by its workflow's name", async () => {
  const { clock, services, tick } = host();
  expect(services.listWorkflows()).toEqual([{ name: "order" }, { name: "watch" }]);
  expect(await services.createInstance("order", { id: "a", params: { n: 1 } })).toEqual({
    id: "a",
    details: { status: "active" },
  });
  await tick();
  expect(await services.getInstanceStatus("order", "a")).toEqual({ status: "waiting" });
  expect(await services.getInstanceCurrentStep("order", "a")).toMatchObject({ name: "cool off" });
  expect(await services.explainInstance("order", "a")).toMatchObject({ status: "waiting" });
  const meta = await services.getInstanceMeta("order", "a");
  expect(meta).toMatchObject({ runNumber: 1, params: { n: 1 }, createdAt: new Date(clock.now()) });
  expect(meta).not.toHaveProperty("status");

  await services.pauseInstance("order", "a");
  expect(await services.getInstanceStatus("order", "a")).toEqual({ status: "paused" });
  await services.resumeInstance("order", "a");
  await tick();
  await services.skipSleep("order", "a");
  await tick();
  expect(await services.sendEvent("order", "a", { type: "approved", payload: "yes" })).toEqual({
    status: "waiting",
  });
  await tick();
  expect(await services.getInstanceStatus("order", "a")).toEqual({ status: "complete", output: "yes" });
});

test("runs are restarted, forked, retried, terminated, and all of them listed", async () => {
  const { clock, services, tick } = host();
  await services.createInstance("order", { id: "a" });
  await tick();
  await clock.advance("1 hour");
  await tick();
  await services.sendEvent("order", "a", { type: "approved", payload: "no" });
  await tick();
  expect(await services.getInstanceStatus("order", "a")).toMatchObject({ status: "errored" });
  await expect(services.retryFailedStep("order", "a", { delay: "1 minute" })).rejects.toMatchObject({
    code: "FAILED_STEP_NOT_RETRYABLE",
  });
  await services.restartInstance("order", "a", { from: "approval" });
  expect(await services.forkInstance("order", "a", { newId: "b" })).toEqual({
    id: "b",
    details: { status: "active" },
  });
  await services.terminateInstance("order", "a", { reason: "enough" });
  expect((await services.listRuns("order", "a")).map(({ status }) => status)).toEqual([
    "terminated",
    "errored",
  ]);
  expect(await services.restartOrCreate("order", "a")).toEqual({
    id: "a",
    outcome: "restarted",
    details: { status: "active" },
  });
  expect(await services.countInstances("order")).toMatchObject({ active: 2 });
  expect(await services.createBatch("order", [{ id: "a" }, { id: "c" }])).toEqual([
    { id: "c", details: { status: "active" } },
  ]);
  expect(await services.createInstance("order", { id: "c", ifExists: "return" })).toMatchObject({ id: "c" });
});

test("lists come in pages, histories with their logs when asked for", async () => {
  const { services, tick } = host();
  await services.createBatch("order", [{ id: "a" }, { id: "b" }]);
  await tick();
  const first = await services.listInstances({ workflowName: "order", pageSize: 1, order: "asc" });
  expect(first).toMatchObject({
    instances: [{ id: "a", details: { status: "waiting" } }],
    hasNextPage: true,
  });
  const { cursor } = first;
  const second = await services.listInstances({ workflowName: "order", pageSize: 1, order: "asc", cursor });
  expect(second).toEqual({ instances: [{ id: "b", details: { status: "waiting" } }], hasNextPage: false });

  const which = { workflowName: "order", instanceId: "a" };
  const history = await services.listHistory({ ...which, pageSize: 1 });
  expect(history).toMatchObject({ steps: [{ name: "charge" }], stepsHasNextPage: true, events: [] });
  expect(history).not.toHaveProperty("logs");
  const { stepsCursor } = history;
  expect(
    await services.listHistory({ ...which, pageSize: 1, ...(stepsCursor ? { stepsCursor } : {}) }),
  ).toMatchObject({
    steps: [{ name: "cool off" }],
    stepsHasNextPage: false,
  });
  expect(await services.listHistory({ ...which, includeLogs: true, logLevel: "info" })).toMatchObject({
    logs: [{ message: "begins", data: { id: "a" } }],
    logsHasNextPage: false,
  });
  expect((await services.listLogs("order", "a")).items).toHaveLength(1);
});

test("topics are published to, and the store audited", async () => {
  const { services, tick } = host();
  await services.createInstance("watch", { id: "a" });
  await tick();
  expect((await services.listWaiters("rates")).items).toMatchObject([{ instanceId: "a" }]);
  expect(await services.publish("rates", 1)).toEqual({ waiters: 1 });
  await tick();
  expect(await services.getInstanceStatus("watch", "a")).toEqual({ status: "complete" });
  expect(await services.verify()).toMatchObject({ violations: [] });
});

test("a binding key is not a name, and the refusal says which there are", async () => {
  const { services } = host();
  await expect(services.createInstance("ORDER")).rejects.toThrow(/registered are: order, watch/);
  await expect(services.getInstanceStatus("ORDER", "a")).rejects.toMatchObject({
    code: "WORKFLOW_NOT_FOUND",
  });
});
