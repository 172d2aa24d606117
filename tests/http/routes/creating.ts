import { expect, test } from "vitest";
import { instancesOf, type World } from "../support/world.ts";

const orders = instancesOf("order");

export function creating(world: () => World): void {
  test("165 an instance is created, answered with its id and state, and is where Location says", async () => {
    const id = world().id("created");
    const { status, body, headers } = await world().post(orders, { id, params: { amount: 7 } });
    expect({ status, body }).toEqual({ status: 201, body: { id, details: { status: "active" } } });
    const { pathname } = new URL(headers.get("location") ?? "", new URL(orders, world().url));
    expect((await world().get(pathname)).body).toMatchObject({ id, meta: { params: { amount: 7 } } });
  });

  test("an instance without an id of its own gets one; params that are left out are an empty object", async () => {
    const { status, body } = await world().ask("POST", orders);
    expect(status).toBe(201);
    expect((await world().get(`${orders}/${body.id}`)).body.meta.params).toEqual({});
  });

  test("165 an id that is taken is refused, and what has it stays as it is", async () => {
    const path = await world().made("order", { amount: 1 });
    const before = await world().get(path);
    const id = path.split("/").at(-1);
    expect(await world().post(orders, { id, params: { amount: 2 } })).toMatchObject({
      status: 409,
      code: "INSTANCE_ID_ALREADY_EXISTS",
      body: { error: { details: { workflowName: "order", instanceId: id } } },
    });
    expect((await world().get(path)).body).toEqual(before.body);
  });

  test('who says ifExists: "return" gets the instance that has the id, whatever state it is in', async () => {
    const id = world().id("either");
    const create = () => world().post(instancesOf("quick"), { id, params: 5, ifExists: "return" });
    const first = await create();
    expect([first.status, first.body]).toEqual([201, { id, details: { status: "active" } }]);
    await world().run();
    const again = await create();
    expect([again.status, again.body]).toEqual([200, { id, details: { status: "complete", output: 5 } }]);
  });

  test("times are ISO text with an offset or milliseconds, and come back as ISO text", async () => {
    const id = world().id("timed");
    const now = world().runtime.now();
    const startAt = new Date(now + 60_000).toISOString();
    await world().post(orders, { id, startAt, deadline: now + 120_000, retention: "1 day" });
    const { meta, details } = (await world().get(`${orders}/${id}`)).body;
    expect(details.status).toBe("active");
    expect(meta).toMatchObject({ dueAt: startAt, deadlineAt: new Date(now + 120_000).toISOString() });
  });

  const large = "x".repeat(2000);
  test.each([
    ["an unknown workflow", "/workflows/nobody/instances", {}, 404, "WORKFLOW_NOT_FOUND"],
    ["an id that is none", orders, { id: "a b" }, 400, "INVALID_INSTANCE_ID"],
    ["an id that is too long", orders, { id: "x".repeat(101) }, 400, "INVALID_INSTANCE_ID"],
    ["an id that is no text", orders, { id: 7 }, 400, "INVALID_ARGUMENT"],
    [
      "params that do not fit",
      instancesOf("counted"),
      { params: { count: "2" } },
      400,
      "WORKFLOW_PARAMS_INVALID",
    ],
    ["params that are too large", orders, { params: large }, 413, "PAYLOAD_TOO_LARGE"],
    ["a duration that is none", orders, { retention: "soon" }, 400, "INVALID_DURATION"],
    ["a time without an offset", orders, { startAt: "2026-01-31T12:00:00" }, 400, "INVALID_ARGUMENT"],
    ["a day that there is not", orders, { startAt: "2026-13-31T12:00:00Z" }, 400, "INVALID_ARGUMENT"],
    ["a field that nobody knows", orders, { params: 1, status: "complete" }, 400, "INVALID_ARGUMENT"],
    ["an array", orders, [], 400, "INVALID_ARGUMENT"],
    ["null", orders, null, 400, "INVALID_ARGUMENT"],
    ["half of a JSON", orders, '{"id":', 400, "INVALID_BODY"],
    ["more than a body may have", orders, `"${"x".repeat(1_200_000)}"`, 413, "BODY_TOO_LARGE"],
  ])("%s is refused, and nothing is created", async (_what, path, body, status, code) => {
    const { counts: before } = (await world().get("/counts")).body;
    expect(await world().post(path, body)).toMatchObject({ status, code });
    expect((await world().get("/counts")).body.counts).toEqual(before);
  });

  test("a body that does not say it is JSON is refused", async () => {
    const asked = { body: '{"id":"x"}', headers: { "content-type": "text/plain" } };
    expect(await world().ask("POST", orders, asked)).toMatchObject({
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    });
  });

  test("165 a batch skips ids that exist or repeat, and leaves them out of the answer", async () => {
    const [there, fresh, other] = [world().id("b"), world().id("b"), world().id("b")];
    await world().post(orders, { id: there });
    const instances = [{ id: there }, { id: fresh, params: 1 }, { id: fresh, params: 2 }, { id: other }];
    const { status, body } = await world().post(`${orders}/batch`, { instances });
    const active = { status: "active" };
    expect([status, body]).toEqual([
      200,
      { instances: [fresh, other].map((id) => ({ id, details: active })) },
    ]);
    expect((await world().get(`${orders}/${fresh}`)).body.meta.params).toBe(1);
    expect((await world().post(`${orders}/batch`, { instances })).body).toEqual({ instances: [] });
  });

  const many = (count: number) => ({
    instances: Array.from({ length: count }, (_, n) => ({ id: `m-${n}` })),
  });
  test.each([
    ["101 instances", orders, many(101), 400, "BATCH_TOO_LARGE"],
    ["one without an id", orders, { instances: [{ id: "fits" }, { params: 1 }] }, 400, "INVALID_ARGUMENT"],
    ["one with a bad id", orders, { instances: [{ id: "fits" }, { id: "-" }] }, 400, "INVALID_INSTANCE_ID"],
    [
      "one that is too large",
      orders,
      { instances: [{ id: "fits" }, { id: "b", params: large }] },
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    [
      "one with a bad retention",
      orders,
      { instances: [{ id: "fits", retention: "x" }] },
      400,
      "INVALID_DURATION",
    ],
    [
      "one whose params do not fit",
      instancesOf("counted"),
      { instances: [{ id: "fits" }] },
      400,
      "WORKFLOW_PARAMS_INVALID",
    ],
    ["an unknown workflow", "/workflows/nobody/instances", many(1), 404, "WORKFLOW_NOT_FOUND"],
    ["no instances at all", orders, {}, 400, "INVALID_ARGUMENT"],
  ])("a batch with %s is refused whole", async (_what, path, body, status, code) => {
    expect(await world().post(`${path}/batch`, body)).toMatchObject({ status, code });
    expect(await world().get(`${orders}/fits`)).toMatchObject({ status: 404, code: "INSTANCE_NOT_FOUND" });
  });
}
