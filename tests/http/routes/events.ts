import { expect, test } from "vitest";
import type { World } from "../support/world.ts";

export function events(world: () => World): void {
  test("165 an event is answered with how the instance stands, and wakes who waits for it", async () => {
    const path = await world().made("order");
    const { status, body } = await world().post(`${path}/events`, {
      type: "approved",
      payload: { by: "kim" },
    });
    expect([status, Object.keys(body)]).toEqual([200, ["status"]]);
    expect(["active", "waiting"]).toContain(body.status.status);
    await world().run();
    expect((await world().get(path)).body.details).toMatchObject({
      status: "complete",
      output: { by: { by: "kim" } },
    });
  });

  test("165 an event that nobody waits for yet is kept", async () => {
    const path = await world().made("order");
    await world().post(`${path}/events`, { type: "later", payload: [1] });
    const { body } = await world().get(`${path}/history`);
    expect(body.events).toMatchObject([
      { type: "later", topic: null, payload: [1], deliveredAt: null, consumedByStepKey: null },
    ]);
  });

  test("an event without a payload has none", async () => {
    const path = await world().made("order");
    await world().post(`${path}/events`, { type: "bare" });
    expect((await world().get(`${path}/history`)).body.events[0].payload).toBeNull();
  });

  test("events are refused with the reason: type, size, number, id of another instance", async () => {
    const path = await world().made("order");
    const send = (event: unknown) => world().post(`${path}/events`, event);
    const refused = async (event: unknown, status: number, code: string) =>
      expect(await send(event)).toMatchObject({ status, code });
    await refused({ type: "a b" }, 400, "INVALID_EVENT_TYPE");
    await refused({ type: "" }, 400, "INVALID_EVENT_TYPE");
    await refused({ payload: 1 }, 400, "INVALID_ARGUMENT");
    await refused({ type: "ok", timestamp: 1 }, 400, "INVALID_ARGUMENT");
    await refused({ type: "ok", idempotencyKey: "" }, 400, "INVALID_ARGUMENT");
    await refused({ type: "ok", payload: "x".repeat(2000) }, 413, "PAYLOAD_TOO_LARGE");
    const idempotencyKey = world().id("event");
    const restarted = await world().made("order");
    await world().post(`${restarted}/events`, { type: "ok", idempotencyKey });
    await world().post(`${restarted}/restart`);
    const late = await world().post(`${restarted}/events`, { type: "ok", idempotencyKey });
    expect(late).toMatchObject({ status: 409, code: "IDEMPOTENCY_KEY_CONFLICT" });
    for (let n = 0; n < 3; n++) expect((await send({ type: "ok" })).status).toBe(200);
    const full = await send({ type: "ok" });
    expect(full).toMatchObject({ status: 429, code: "EVENT_BUFFER_FULL" });
    expect(full.headers.get("retry-after")).toBe("10");
  });

  test("declared events are checked, with the issues for programs, and nothing is stored", async () => {
    const path = await world().made("counted", { count: 1 });
    const wrong = await world().post(`${path}/events`, { type: "counted", payload: { count: "one" } });
    expect(wrong).toMatchObject({ status: 400, code: "EVENT_PAYLOAD_INVALID" });
    expect(wrong.body.error.details.issues).toEqual([{ message: "count must be a number", path: ["count"] }]);
    const mistyped = await world().post(`${path}/events`, { type: "conted", payload: { count: 1 } });
    expect(mistyped).toMatchObject({ status: 400, code: "UNKNOWN_EVENT_TYPE" });
    expect(mistyped.body.error.details).toMatchObject({ declared: ["counted"], nearest: "counted" });
    expect((await world().get(`${path}/history`)).body.events).toEqual([]);
  });

  test("the header Idempotency-Key stands for the key in the body, and must not differ from it", async () => {
    const path = await world().made("order");
    const key = world().id("event");
    const send = (body: object, header: string) =>
      world().ask("POST", `${path}/events`, { body, headers: { "idempotency-key": header } });
    expect((await send({ type: "later", payload: 1 }, key)).status).toBe(200);
    expect((await send({ type: "later", payload: 2, idempotencyKey: key }, key)).status).toBe(200);
    expect((await world().post(`${path}/events`, { type: "later", idempotencyKey: key })).status).toBe(200);
    expect(await send({ type: "later", idempotencyKey: "other" }, key)).toMatchObject({
      status: 400,
      code: "INVALID_ARGUMENT",
    });
    expect((await world().get(`${path}/history`)).body.events).toMatchObject([{ id: key, payload: 1 }]);
    const topic = world().id("news");
    await world().made("listener", { topic });
    const publish = () => world().ask("POST", `/topics/${topic}`, { headers: { "idempotency-key": key } });
    expect((await publish()).body).toEqual({ waiters: 1 });
    await world().run();
    expect((await publish()).body).toEqual({ waiters: 1 });
  });

  test("a publication reaches everybody who waits on its topic, and says how many", async () => {
    const topic = world().id("news");
    const paths = [await world().made("listener", { topic }), await world().made("listener", { topic })];
    const { body } = await world().get(`/topics/${topic}/waiters`);
    expect(body.waiters).toHaveLength(2);
    expect(body.waiters[0]).toEqual({
      workflowName: "listener",
      instanceId: expect.stringMatching(/^listener-/),
      runNumber: 1,
      stepKey: "news",
      topic,
      deadlineAt: new Date(world().runtime.now() + 86_400_000).toISOString(),
      hasEvent: false,
    });
    const publish = (more: object = {}) => world().post(`/topics/${topic}`, { payload: "hot", ...more });
    const idempotencyKey = world().id("publication");
    expect((await publish({ idempotencyKey })).body).toEqual({ waiters: 2 });
    await world().run();
    for (const path of paths) expect((await world().get(path)).body.details.output).toBe("hot");
    expect((await publish({ idempotencyKey })).body).toEqual({ waiters: 2 });
    expect((await publish()).body).toEqual({ waiters: 0 });
    expect((await world().get(`/topics/${topic}/waiters`)).body).toEqual({ waiters: [], hasNextPage: false });
  });

  test.each([
    ["POST", "/topics/.x", {}, 400, "INVALID_TOPIC"],
    ["GET", "/topics/a%2Fb/waiters", undefined, 400, "INVALID_TOPIC"],
    ["GET", "/topics/a/waiters?cursor=x", undefined, 400, "INVALID_CURSOR"],
    ["POST", "/topics/a", { payload: "x".repeat(2000) }, 413, "PAYLOAD_TOO_LARGE"],
    ["POST", "/topics/a", { type: "x" }, 400, "INVALID_ARGUMENT"],
    ["POST", "/topics/a", { idempotencyKey: "x".repeat(600) }, 400, "INVALID_ARGUMENT"],
  ])("%s %s %j is refused", async (method, path, body, status, code) => {
    expect(await world().ask(method, path, { body })).toMatchObject({ status, code });
  });
}
