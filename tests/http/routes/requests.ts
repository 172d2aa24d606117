import { expect, test } from "vitest";
import { instancesOf, type World } from "../support/world.ts";

export function requests(world: () => World): void {
  test("C29 every path works without /workflows before the name, too", async () => {
    const path = await world().made("order");
    const short = path.replace("/workflows", "");
    expect((await world().get(short)).body).toEqual((await world().get(path)).body);
    expect((await world().get(`${short}/history`)).body).toEqual((await world().get(`${path}/history`)).body);
    const id = world().id("short");
    expect(await world().post("/order/instances", { id })).toMatchObject({ status: 201 });
    expect(await world().post(`/order/instances/${id}/pause`)).toMatchObject({ status: 200 });
    expect(await world().post("/order/instances/batch", { instances: [] })).toMatchObject({ status: 200 });
    expect((await world().get("/order/instances")).body).toEqual(
      (await world().get(instancesOf("order"))).body,
    );
  });

  test("HEAD is answered as GET is, without a body", async () => {
    const path = await world().made("order");
    for (const [each, status] of [
      [path, 200],
      ["/workflows", 200],
      [`${path}x`, 404],
      ["/nothing", 404],
    ] as const) {
      const head = await world().ask("HEAD", each);
      const get = await world().get(each);
      expect([head.status, get.status], each).toEqual([status, status]);
      expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    }
  });

  test("OPTIONS says which methods there are", async () => {
    const { status, headers } = await world().ask("OPTIONS", instancesOf("order"));
    expect([status, headers.get("allow")]).toEqual([204, "GET, HEAD, POST"]);
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each([
    ["PUT", "/workflows/order/instances/x", "GET, HEAD, DELETE"],
    ["DELETE", "/workflows/order/instances", "GET, HEAD, POST"],
    ["PUT", "/workflows", "GET, HEAD"],
    ["GET", "/workflows/order/instances/x/pause", "POST"],
    ["POST", "/counts", "GET, HEAD"],
    ["GET", "/_runner/tick", "POST"],
    ["PATCH", "/workflows/order/instances/batch", "POST, GET, HEAD, DELETE"],
  ])("%s %s is not offered, and the answer says what is", async (method, path, allow) => {
    const { status, code, headers } = await world().ask(method, path);
    expect([status, code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(headers.get("allow")?.split(", ").sort()).toEqual(allow.split(", ").sort());
  });

  test.each([
    "/",
    "/x",
    "/workflows/order/instances/x/y/z",
    "/workflows//instances/x/stop",
    "/WORKFLOWS",
    "//workflows",
  ])("there is nothing at %s", async (path) => {
    const response = await fetch(world().url.slice(0, -1) + path);
    expect([response.status, (await response.json()).error.code]).toEqual([404, "ROUTE_NOT_FOUND"]);
  });

  test("a slash at the end means nothing", async () => {
    expect((await world().get("/workflows/")).body).toEqual((await world().get("/workflows")).body);
  });

  test("what has not changed is answered 304 to those who have it", async () => {
    const path = await world().made("order");
    for (const each of [
      path,
      `${path}/history`,
      `${path}/logs`,
      `${path}/runs`,
      instancesOf("order"),
      "/workflows",
      "/counts",
      "/openapi.json",
    ]) {
      const etag = (await world().get(each)).headers.get("etag") ?? "";
      const same = await world().get(each, { "if-none-match": `"other", ${etag}` });
      expect([same.status, same.body, same.headers.get("etag")], each).toEqual([304, null, etag]);
      expect((await world().get(each, { "if-none-match": '"other"' })).status).toBe(200);
    }
    const etag = (await world().get(path)).headers.get("etag") ?? "";
    await world().post(`${path}/pause`);
    const changed = await world().get(path, { "if-none-match": etag });
    expect([changed.status, changed.body.details.status]).toEqual([200, "paused"]);
  });
}
