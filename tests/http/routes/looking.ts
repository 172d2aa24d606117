import { expect, test } from "vitest";
import type { Json } from "../support/checked-answer.ts";
import { instancesOf, type World } from "../support/world.ts";

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

export function looking(world: () => World): void {
  test("165 the workflows are listed by name", async () => {
    const { body } = await world().get("/workflows");
    expect(Object.keys(body)).toEqual(["workflows"]);
    expect(body.workflows).toContainEqual({ name: "order" });
    expect(body.workflows).toHaveLength(10);
  });

  test("a workflow says what it checks, its limits and how its instances stand", async () => {
    const { body } = await world().get("/workflows/counted");
    expect(body).toMatchObject({
      name: "counted",
      key: "COUNTED",
      checksParams: true,
      checksOutput: false,
      concurrency: null,
      paramsSchema: { type: "object", properties: { count: { type: "number" } } },
      limits: { maxParamsBytes: 2000, maxStepTimeoutMs: null },
    });
    const { body: capped } = await world().get("/workflows/capped");
    expect([capped.concurrency, "paramsSchema" in capped]).toEqual([1, false]);
  });

  test("169 an instance shows its current step: attempts, type of the wait, when it wakes", async () => {
    const path = await world().made("order", { amount: 3 });
    const { body } = await world().get(path);
    const tomorrow = new Date(world().runtime.now() + 86_400_000).toISOString();
    expect(body).toEqual({
      id: path.split("/").at(-1),
      details: { status: "waiting" },
      meta: {
        workflowName: "order",
        runNumber: 1,
        params: { amount: 3 },
        createdAt: time,
        updatedAt: time,
        startedAt: time,
        completedAt: null,
        dueAt: tomorrow,
        deadlineAt: null,
        retentionUntil: null,
        parent: null,
        terminationReason: null,
        executing: false,
        queued: false,
        deadLetter: false,
        currentStep: expect.objectContaining({
          stepKey: "approval",
          name: "approval",
          type: "waitForEvent",
          status: "waiting",
          attempts: 0,
          wakeAt: tomorrow,
          waitEventType: "approved",
          timeoutMs: null,
          nextRetryAt: null,
        }),
      },
    });
  });

  test("169 a step that is tried again shows its attempts, its error and when", async () => {
    const path = await world().made("flaky");
    expect((await world().get(path)).body.meta.currentStep).toMatchObject({
      name: "call",
      type: "do",
      status: "waiting",
      attempts: 1,
      maxAttempts: 2,
      timeoutMs: 600_000,
      nextRetryAt: new Date(world().runtime.now() + 60_000).toISOString(),
      error: { name: "Error", message: "no answer 1" },
    });
  });

  test("what ended is shown with its output or its error, and without the other", async () => {
    const complete = await world().made("quick", { of: [1, null, "x"] });
    const { details } = (await world().get(complete)).body;
    expect(details).toEqual({ status: "complete", output: { of: [1, null, "x"] } });
    const errored = await world().made("doomed");
    const { body } = await world().get(errored);
    expect(body.details).toEqual({
      status: "errored",
      error: {
        name: "NonRetryableError",
        message: "not like this",
        stack: expect.stringContaining("not like this"),
      },
    });
    expect(body.meta.completedAt).toEqual(time);
  });

  test("165 a list has id and state of each, and everything else only when asked for", async () => {
    await world().made("sleeper");
    const { body } = await world().get(`${instancesOf("sleeper")}?pageSize=1`);
    expect(body.instances).toEqual([{ id: expect.any(String), details: { status: "waiting" } }]);
    const { body: full } = await world().get(`${instancesOf("sleeper")}?include=meta&pageSize=1`);
    expect(full.instances[0].meta).toMatchObject({ workflowName: "sleeper", runNumber: 1 });
  });

  test("lists are filtered by one status or several, in the words of other engines too", async () => {
    const listed = async (query: string) => {
      const { body } = await world().get(`${instancesOf("doomed")}?${query}`);
      return new Set(body.instances.map((each: { details: { status: string } }) => each.details.status));
    };
    await world().made("doomed");
    await world().post(instancesOf("doomed"), { id: world().id() });
    for (const query of ["status=errored", "status=failed"])
      expect(await listed(query)).toEqual(new Set(["errored"]));
    for (const query of ["status=errored,active", "status=errored&status=active", "order=asc"])
      expect(await listed(query)).toEqual(new Set(["errored", "active"]));
    expect(await listed("status=paused")).toEqual(new Set());
  });

  test("instances of all workflows are listed with whose they are; dead letters are found by themselves", async () => {
    const path = await world().made("flaky");
    await world().pass("1 minute");
    const id = path.split("/").at(-1);
    const isListed = async (list: string) => {
      const { body } = await world().get(list);
      return body.instances.some(({ id: each }: { id: string }) => each === id);
    };
    for (const list of ["/instances?status=errored", "/instances?deadLetter=true", "/dead-letters"])
      expect(await isListed(`${list}${list.includes("?") ? "&" : "?"}pageSize=100`), list).toBe(true);
    expect(await isListed("/dead-letters?workflowName=flaky")).toBe(true);
    expect(await isListed("/dead-letters?workflowName=order")).toBe(false);
    expect(await isListed(`${instancesOf("flaky")}?deadLetter=false`)).toBe(false);
    const { body } = await world().get("/dead-letters?workflowName=flaky");
    expect(body.instances[0].meta).toMatchObject({ workflowName: "flaky", deadLetter: true });
  });

  test("counts say how many there are of each status, of one workflow or of all", async () => {
    const { body: before } = await world().get("/counts?workflowName=quick");
    await world().made("quick");
    const { body: after } = await world().get("/counts?workflowName=quick");
    expect(after.counts).toEqual({ ...before.counts, complete: before.counts.complete + 1 });
    const { body: all } = await world().get("/counts");
    expect(all.counts.complete).toBeGreaterThanOrEqual(after.counts.complete);
  });

  test("all runs of an instance are shown, newest first", async () => {
    const path = await world().made("quick", 1);
    await world().post(`${path}/restart`);
    const { body } = await world().get(`${path}/runs`);
    const runs = body.runs.map(({ meta, details }: Json) => [meta.runNumber, details.status]);
    expect(runs).toEqual([
      [2, "active"],
      [1, "complete"],
    ]);
  });

  const cursor = Buffer.from('[1,"instances:order","1"]').toString("base64url");
  test.each([
    ["/workflows/nobody", 404, "WORKFLOW_NOT_FOUND"],
    ["/workflows/nobody/instances", 404, "WORKFLOW_NOT_FOUND"],
    ["/dead-letters?workflowName=nobody", 404, "WORKFLOW_NOT_FOUND"],
    ["/counts?workflowName=nobody", 404, "WORKFLOW_NOT_FOUND"],
    ["/workflows/order/instances?cursor=nonsense", 400, "INVALID_CURSOR"],
    [`/workflows/quick/instances?cursor=${cursor}`, 400, "INVALID_CURSOR"],
    ["/instances?cursor=nonsense", 400, "INVALID_CURSOR"],
    ["/dead-letters?cursor=nonsense", 400, "INVALID_CURSOR"],
    ["/workflows/order/instances?status=finished", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?status=", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?pageSize=0", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?pageSize=101", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?pageSize=1e1", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?pageSize=1&pageSize=2", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?order=down", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?deadLetter=1", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?include=all", 400, "INVALID_ARGUMENT"],
    ["/workflows/order/instances?sort=name", 400, "INVALID_ARGUMENT"],
    ["/workflows?x=1", 400, "INVALID_ARGUMENT"],
  ])("166 GET %s is refused with %i %s", async (path, status, code) => {
    expect(await world().get(path)).toMatchObject({ status, code });
  });
}
