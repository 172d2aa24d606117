/** The client and a real app, served on a port. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { allowAll, createWorkflows, defineWorkflow } from "../index.ts";
import { type Served, serve } from "../node/index.ts";
import { memory } from "../stores/memory/index.ts";
import { type Client, createClient } from "./index.ts";

const double = defineWorkflow<{ n: number }, number>({ name: "double" }, async ({ payload }, step) => {
  step.log.info("doubling", { data: { n: payload.n } });
  return step.do("double", async () => payload.n * 2);
});

const approval = defineWorkflow<unknown, unknown>({ name: "approval" }, async (_event, step) => {
  await step.do("ask", async () => "asked");
  const { payload } = await step.waitForEvent<{ by: string }>("approved", {
    type: "approved",
    timeout: "1 day",
  });
  step.log.info(`approved by ${payload.by}`);
  return payload;
});

const broken = defineWorkflow<unknown, unknown>({ name: "broken" }, async (_event, step) =>
  step.do("fail", { retries: { limit: 0, delay: 0 } }, async () => {
    throw new Error("no");
  }),
);

const app = createWorkflows({
  workflows: { double, approval, broken },
  store: memory(),
  authorize: allowAll(),
  onNotice: () => {},
});
let served: Served;
let client: Client;

beforeAll(async () => {
  await app.start();
  served = await serve(app, { port: 0 });
  client = createClient({ url: served.url });
});
afterAll(async () => {
  await served.close();
  await app.stop();
});

test("keys that JSON escapes arrive on both sides, whatever keys exist in the process", async () => {
  const others = [
    { by: 0, "\\": 1 },
    { by: 0, "a\\": 1 },
  ];
  const payload = { by: "0", "\n": 1, 'a"': 2, "\ud800": 3, others };
  const instance = await client.workflow<typeof approval>("approval").create();
  await instance.sendEvent({ type: "approved", payload });
  expect((await instance.result({ timeout: 60_000 })).output).toEqual(payload);
});

test("creates an instance, waits for its result and looks at everything about it", async () => {
  const instance = await client.workflow<typeof double>("double").create({ params: { n: 21 } });
  expect(await instance.result({ timeout: 60_000 })).toEqual({
    status: "complete",
    output: 42,
    timedOut: false,
  });
  expect(await instance.status()).toEqual({ status: "complete", output: 42 });
  expect((await instance.details()).meta).toMatchObject({ runNumber: 1, params: { n: 21 } });
  expect((await instance.history({ includeLogs: true })).steps).toMatchObject([
    { name: "double", result: 42 },
  ]);
  expect((await instance.logs({ level: "info" })).logs).toMatchObject([{ message: "doubling" }]);
  expect(await instance.runs()).toHaveLength(1);
  expect(await instance.why()).toMatchObject({ status: "complete" });
  expect(await instance.exportHistory()).toMatchObject({
    format: "everstep-history",
    instanceId: instance.id,
  });
});

test("sends events, and follows an instance and its logs until it ends", async () => {
  const workflow = client.workflow("approval");
  const instance = await workflow.create({ id: "a-1" });
  const statuses: string[] = [];
  for await (const { details, steps } of instance.watch()) {
    statuses.push(details.status);
    if (details.status === "waiting") {
      expect(steps.map(({ name }) => name)).toEqual(["ask", "approved"]);
      await instance.sendEvent({ type: "approved", payload: { by: "me" } });
    }
    if (details.status === "complete") break;
  }
  expect(statuses).toContain("waiting");
  const messages: string[] = [];
  for await (const { message } of instance.followLogs({ level: "info" })) messages.push(message);
  expect(messages).toContain("approved by me");
});

test("steers instances", async () => {
  const instance = await client.workflow("approval").create();
  await instance.pause();
  expect((await instance.status()).status).toBe("paused");
  await instance.resume();
  const other = await instance.fork({ newId: "fork-1" });
  expect(other.id).toBe("fork-1");
  await other.terminate({ reason: "enough" });
  expect(await other.result()).toMatchObject({ status: "terminated" });
  await other.restart();
  expect((await other.details()).meta.runNumber).toBe(2);
  // Only what is recorded can be gone back to.
  await vi.waitFor(async () => expect((await other.status()).status).toBe("waiting"));
  await other.terminate();
  await other.rewind("ask");
  await other.terminate();
  await instance.terminate();
  await expect(instance.pause()).rejects.toMatchObject({
    code: "INSTANCE_TERMINAL",
    details: { status: 409 },
  });
});

test("retries a failed step", async () => {
  const instance = await client.workflow("broken").create();
  expect(await instance.result()).toMatchObject({ status: "errored", error: { message: "no" } });
  await instance.retryFailedStep();
  expect(await instance.result()).toMatchObject({ status: "errored" });
  expect((await instance.history()).steps).toMatchObject([{ attempts: 2 }]);
});

describe("lists", () => {
  test("of workflows, instances and counts", async () => {
    const names = (await client.workflows()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["double", "approval", "broken"]));
    expect(await client.workflow("double").details()).toMatchObject({ name: "double" });
    await client.workflow("double").createBatch([
      { id: "b-1", params: { n: 1 } },
      { id: "b-2", params: { n: 2 } },
    ]);
    const page = await client.workflow("double").list({ pageSize: 1, order: "asc", meta: true });
    expect(page).toMatchObject({ instances: [{ meta: { workflowName: "double" } }], hasNextPage: true });
    const { instances } = await client.instances({ status: ["errored", "failed"] });
    expect(instances.map(({ meta }) => meta.workflowName)).toEqual(["broken"]);
    expect(await client.counts("broken")).toMatchObject({ errored: 1 });
    expect((await client.deadLetters()).hasNextPage).toBe(false);
  });

  test("that change, as they change", async () => {
    const workflow = client.workflow("double");
    for await (const { instances } of workflow.watch({ pageSize: 100 })) {
      const known = instances.find(({ id }) => id === "w-1");
      if (!known) await workflow.create({ id: "w-1", params: { n: 1 }, ifExists: "return" });
      else if (known.details.status === "complete") break;
    }
    for await (const { instances } of client.watchInstances({ status: "errored" })) {
      expect(instances).toHaveLength(1);
      break;
    }
  });
});

test("says how it all is, who runs it, what was done, and what the caller may do", async () => {
  expect(await client.overview()).toMatchObject({
    counts: { errored: 1 },
    store: { name: "memory" },
    runner: { running: true },
    mayKill: false,
  });
  expect(await client.runners()).toMatchObject([{ state: "running", isHere: true }]);
  expect((await client.activity({ minutes: 5, workflowName: "double" })).buckets).toHaveLength(5);
  const all = { instanceCreation: true, management: true, sendEvent: true, now: expect.any(String) };
  expect(await client.access()).toEqual(all);
  expect(await client.topics()).toEqual({ topics: [], hasNextPage: false });
  await expect(client.kill()).rejects.toMatchObject({ code: "ROUTE_NOT_FOUND" });
  const { instances } = await client.instances({ idPrefix: "b-", createdFrom: new Date(0), brief: true });
  expect(instances.map(({ id, meta }) => [id, "params" in meta])).toEqual([
    ["b-2", false],
    ["b-1", false],
  ]);
});

test("publishes to topics, audits, and asks how the server is", async () => {
  expect(await client.publish("nobody:waits", 1)).toEqual({ waiters: 0 });
  expect(await client.waiters("nobody:waits")).toMatchObject({ waiters: [] });
  expect(await client.verify()).toMatchObject({ ok: true });
  expect(await client.health()).toBeTypeOf("object");
  expect(await client.openapi()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
});

test("restarts or creates, and a repeat with the same key restarts it once", async () => {
  const workflow = client.workflow<typeof double>("double");
  const act = (idempotencyKey: string) =>
    workflow.restartOrCreate("r-1", { params: { n: 1 }, idempotencyKey });
  expect((await act("a")).outcome).toBe("created");
  expect((await act("b")).outcome).toBe("restarted");
  await act("b");
  expect((await workflow.get("r-1").details()).meta.runNumber).toBe(2);
});

test("problems come with the server's code", async () => {
  await expect(client.workflow("nothing").details()).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  await expect(client.workflow("double").get("none").status()).rejects.toMatchObject({
    code: "INSTANCE_NOT_FOUND",
  });
  await expect(client.workflow("double").get("none").result()).rejects.toMatchObject({
    code: "INSTANCE_NOT_FOUND",
  });
  await client.workflow("double").create({ id: "twice", params: { n: 1 } });
  const again = client.workflow("double").create({ id: "twice", params: { n: 1 } });
  await expect(again).rejects.toMatchObject({ code: "INSTANCE_ID_ALREADY_EXISTS", details: { status: 409 } });
});
