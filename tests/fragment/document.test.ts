/** A host written after the document that describes the fragment: its examples, on its routes. */
import {
  defineWorkflow,
  NonRetryableError,
  type WorkflowEnqueuedHookPayload,
  type WorkflowEvent,
  type WorkflowStep,
} from "everstep/fragment";
import { expect, test } from "vitest";
import { begun, host, onEachStore } from "./hosts.ts";

const hour = 3_600_000;
const everybody = { authorizeRequest: () => {}, authorizeRunnerTick: () => {} };

const MyWorkflow = defineWorkflow(
  { name: "my-workflow" },
  async (_event: WorkflowEvent<{ readonly requestId?: string }>, step: WorkflowStep) => {
    const state = await step.do("fetch config", async () => {
      return { enabled: true };
    });

    await step.sleep("wait a bit", "1 hour");

    const approval = await step.waitForEvent<{ approved: boolean }>("await approval", {
      type: "approval",
      timeout: "24 hours",
    });

    return await step.do("finish", async () => ({ state, approved: approval.payload.approved }));
  },
);

const base = "/workflows/my-workflow/instances";

onEachStore("a workflow's life over the routes", (openStore) => {
  test("is driven by ticks, the runtime's clock and an event, to its output", async () => {
    const { runtime, get, post } = host(openStore(), { workflows: { MINE: MyWorkflow }, ...everybody });
    const tick = () => post("/_runner/tick", { maxInstances: 10 });

    expect(await get("/workflows")).toEqual({ status: 200, body: { workflows: [{ name: "my-workflow" }] } });
    expect(await post(base, { id: "order-123", params: { requestId: "r-1" } })).toMatchObject({
      status: 201,
      body: { id: "order-123", details: { status: "active" } },
    });
    expect((await tick()).body).toEqual({ processed: 1 });
    expect((await get(`${base}/order-123`)).body).toMatchObject({
      details: { status: "waiting" },
      meta: {
        workflowName: "my-workflow",
        runNumber: 1,
        params: { requestId: "r-1" },
        createdAt: new Date(begun).toISOString(),
        currentStep: { name: "wait a bit", type: "sleep", wakeAt: new Date(begun + hour).toISOString() },
      },
    });
    expect((await tick()).body).toEqual({ processed: 0 });
    runtime.advance(hour);
    expect((await tick()).body).toEqual({ processed: 1 });
    expect((await get(`${base}/order-123`)).body.meta.currentStep).toMatchObject({
      type: "waitForEvent",
      waitEventType: "approval",
      wakeAt: new Date(begun + 25 * hour).toISOString(),
    });
    expect(await post(`${base}/order-123/events`, { type: "approval", payload: { approved: true } })).toEqual(
      {
        status: 200,
        body: { status: { status: "waiting" } },
      },
    );
    await tick();
    expect((await get(`${base}/order-123`)).body.details).toEqual({
      status: "complete",
      output: { state: { enabled: true }, approved: true },
    });
    const { steps, events } = (await get(`${base}/order-123/history`)).body;
    expect(steps.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`)).toEqual([
      "fetch config completed",
      "wait a bit completed",
      "await approval completed",
      "finish completed",
    ]);
    expect(events).toMatchObject([{ type: "approval", consumedByStepKey: "await approval" }]);
  });

  test("is paused, resumed, terminated and restarted", async () => {
    const { get, post, runtime } = host(openStore(), { workflows: { MINE: MyWorkflow }, ...everybody });
    const status = async () => (await get(`${base}/a`)).body.details.status;
    await post(base, { id: "a" });
    expect(await post(`${base}/a/pause`)).toEqual({ status: 200, body: { ok: true } });
    expect((await post("/_runner/tick")).body).toEqual({ processed: 0 });
    expect(await status()).toBe("paused");
    await post(`${base}/a/resume`);
    expect((await post("/_runner/tick")).body).toEqual({ processed: 1 });
    await post(`${base}/a/terminate`, { reason: "no more" });
    expect(await status()).toBe("terminated");
    expect(await post(`${base}/a/pause`)).toMatchObject({
      status: 409,
      body: { error: { code: "INSTANCE_TERMINAL" } },
    });
    await post(`${base}/a/restart`);
    expect((await get(`${base}/a`)).body).toMatchObject({
      details: { status: "active" },
      meta: { runNumber: 2 },
    });
    runtime.advance(1);
    expect((await get(`${base}/a/history?runNumber=1`)).body.steps).toHaveLength(2);
  });

  test("what cannot be done is said with the document's codes", async () => {
    const { get, post } = host(openStore(), { workflows: { MINE: MyWorkflow }, ...everybody });
    const codeOf = async (answer: Promise<{ status: number; body: { error: { code: string } } }>) => {
      const { status, body } = await answer;
      return `${status} ${body.error.code}`;
    };
    await post(base, { id: "a" });
    expect(await codeOf(post(base, { id: "a" }))).toBe("409 INSTANCE_ID_ALREADY_EXISTS");
    expect(await codeOf(post(base, { id: "-a" }))).toBe("400 INVALID_INSTANCE_ID");
    expect(await codeOf(post("/workflows/other/instances"))).toBe("404 WORKFLOW_NOT_FOUND");
    expect(await codeOf(post("/workflows/MINE/instances"))).toBe("404 WORKFLOW_NOT_FOUND");
    expect(await codeOf(get(`${base}/b`))).toBe("404 INSTANCE_NOT_FOUND");
    expect(await codeOf(post(`${base}/b/events`, { type: "x" }))).toBe("404 INSTANCE_NOT_FOUND");
    expect(await codeOf(post(`${base}/a/events`, { type: "not a type" }))).toBe("400 INVALID_EVENT_TYPE");
  });

  test("a batch leaves out ids that exist", async () => {
    const { post, get } = host(openStore(), { workflows: { MINE: MyWorkflow }, ...everybody });
    await post(base, { id: "a" });
    const { body } = await post(`${base}/batch`, { instances: [{ id: "a" }, { id: "b" }] });
    expect(body).toEqual({ instances: [{ id: "b", details: { status: "active" } }] });
    const page = (await get(`${base}?pageSize=1&status=active`)).body;
    expect(page).toMatchObject({ hasNextPage: true, instances: [{ details: { status: "active" } }] });
    expect((await get(`${base}?pageSize=1&cursor=${encodeURIComponent(page.cursor)}`)).body).toMatchObject({
      hasNextPage: false,
    });
  });

  test("logs come with the history when they are asked for", async () => {
    const Charge = defineWorkflow({ name: "charge" }, async (event: WorkflowEvent<{ id: string }>, step) => {
      await step.log.info("starting run", { requestId: event.payload.id }, { category: "workflow" });
      await step.do("charge customer", async () => {
        await step.log.info("charging", { amount: 125, currency: "usd" }, { category: "payments" });
      });
    });
    const { get, post } = host(openStore(), { workflows: { CHARGE: Charge }, ...everybody });
    await post("/workflows/charge/instances", { id: "a", params: { id: "r-1" } });
    await post("/_runner/tick");
    const history = "/workflows/charge/instances/a/history";
    expect((await get(history)).body).not.toHaveProperty("logs");
    expect((await get(`${history}?includeLogs=true&logCategory=payments`)).body.logs).toMatchObject([
      {
        level: "info",
        category: "payments",
        message: "charging",
        data: { amount: 125 },
        stepKey: "charge customer",
      },
    ]);
  });
});

onEachStore("programmatic bindings", (openStore) => {
  const BillingWorkflow = defineWorkflow(
    { name: "billing" },
    async (event: WorkflowEvent<{ readonly orderId: string }>, step) => {
      await step.do("start child", async (tx) => {
        tx.startWorkflow("child", { id: `${event.payload.orderId}-child` });
      });
      return event.payload.orderId;
    },
  );
  const ChildWorkflow = defineWorkflow({ name: "child" }, async () => "done");

  test("create, find and create many by their keys", async () => {
    const workflows = { BILLING: BillingWorkflow, CHILD: ChildWorkflow } as const;
    const { fragment } = host(openStore(), { workflows });
    const billing = fragment.workflows.BILLING;
    const instance = await billing.create({ id: "order-123", params: { orderId: "order-123" } });
    expect(await fragment.runner.tick()).toEqual({ processed: 1 });
    expect(await instance.status()).toEqual({ status: "complete", output: "order-123" });
    await fragment.runner.tick();
    const child = await fragment.workflows.CHILD.get("order-123-child");
    expect(await child.status()).toEqual({ status: "complete", output: "done" });
    const more = await billing.createBatch([
      { id: "order-123", params: { orderId: "order-123" } },
      { id: "order-124", params: { orderId: "order-124" } },
    ]);
    expect(more.map(({ id }) => id)).toEqual(["order-124"]);
  });

  test("ids and times are the runtime's", async () => {
    const { fragment, runtime } = host(openStore(), { workflows: { CHILD: ChildWorkflow } });
    runtime.advance(5000);
    const { id } = await fragment.workflows.CHILD.create();
    expect(id).toMatch(/^00000000-0000-4000-8000-\d{12}$/);
    await fragment.runner.tick();
    runtime.advance(5000);
    const meta = await fragment.services.getInstanceMeta("child", id);
    const at = new Date(begun + 5000);
    expect(meta).toMatchObject({ createdAt: at, updatedAt: at, startedAt: at, completedAt: at });
  });
});

onEachStore("a dispatcher", (openStore) => {
  test("is given the document's reasons", async () => {
    const Flaky = defineWorkflow({ name: "flaky" }, async (_event, step) => {
      await step.do(
        "call",
        { retries: { limit: 1, delay: "1 minute", backoff: "constant" } },
        async (ctx) => {
          if (ctx.attempt === 1) throw new Error("down");
        },
      );
      await step.sleep("rest", "1 hour");
      await step.waitForEvent("reply", { type: "reply" });
      throw new NonRetryableError("enough");
    });
    const heard: WorkflowEnqueuedHookPayload[] = [];
    const dispatcher = { wake: (payload: WorkflowEnqueuedHookPayload) => void heard.push(payload) };
    const { fragment, runtime } = host(openStore(), { workflows: { FLAKY: Flaky }, dispatcher });
    const reasons = () => heard.splice(0).map(({ reason, dueAt }) => (dueAt ? [reason, dueAt] : [reason]));
    const instance = await fragment.workflows.FLAKY.create({ id: "a" });
    expect(heard).toEqual([{ workflowName: "flaky", instanceId: "a", reason: "create" }]);
    expect(reasons()).toEqual([["create"]]);
    await fragment.runner.tick();
    expect(reasons()).toEqual([["retry", new Date(begun + 60_000)]]);
    runtime.advance(60_000);
    await fragment.runner.tick();
    expect(reasons()).toEqual([["wake", new Date(begun + 60_000 + hour)]]);
    await instance.skipSleep();
    expect(reasons()).toEqual([["wake"]]);
    await fragment.runner.tick();
    reasons();
    await instance.pause();
    await instance.resume();
    expect(reasons()).toEqual([["resume"]]);
    await fragment.runner.tick();
    reasons();
    await instance.sendEvent({ type: "reply" });
    expect(reasons()).toEqual([["event"]]);
    await fragment.runner.tick();
    await instance.restart();
    expect(reasons()).toEqual([["create"]]);
  });

  test("that calls the tick route runs everything without anybody polling", async () => {
    const ticked: Promise<unknown>[] = [];
    const Steps = defineWorkflow({ name: "steps" }, async (_event, step) => {
      await step.do("one", async () => 1);
      await step.waitForEvent("go", { type: "go" });
      return step.do("two", async () => 2);
    });
    const { fragment, post } = host(openStore(), {
      workflows: { STEPS: Steps },
      ...everybody,
      dispatcher: {
        wake({ dueAt }) {
          // What is for later is left to the host's alarm.
          if (!dueAt) ticked.push(post("/_runner/tick"));
        },
      },
    });
    const settled = async () => {
      while (ticked.length > 0) await ticked.shift();
    };
    const instance = await fragment.workflows.STEPS.create({ id: "a" });
    await settled();
    expect(await instance.status()).toEqual({ status: "waiting" });
    await instance.sendEvent({ type: "go" });
    await settled();
    expect(await instance.status()).toEqual({ status: "complete", output: 2 });
  });
});
