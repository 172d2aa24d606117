import { describe, expect, test } from "vitest";
import type { Route } from "./route.ts";
import { Router } from "./router.ts";

const route = (method: "GET" | "POST", path: string) => ({ action: path, method, path }) as Route;
const router = new Router([
  route("GET", "/workflows"),
  route("GET", "/workflows/:workflowName/instances"),
  route("POST", "/workflows/:workflowName/instances"),
  route("POST", "/workflows/:workflowName/instances/batch"),
  route("GET", "/workflows/:workflowName/instances/:instanceId"),
  route("POST", "/topics/:topic"),
]);

describe("a path finds its route", () => {
  test.each([
    ["/workflows", "GET", "/workflows", {}],
    ["/workflows/", "GET", "/workflows", {}],
    ["/workflows/a/instances", "POST", "/workflows/:workflowName/instances", { workflowName: "a" }],
    [
      "/workflows/a/instances/b",
      "GET",
      "/workflows/:workflowName/instances/:instanceId",
      { workflowName: "a", instanceId: "b" },
    ],
    [
      "/workflows/a/instances/batch",
      "POST",
      "/workflows/:workflowName/instances/batch",
      { workflowName: "a" },
    ],
    [
      "/workflows/a/instances/batch",
      "GET",
      "/workflows/:workflowName/instances/:instanceId",
      { workflowName: "a", instanceId: "batch" },
    ],
    ["/a/instances", "GET", "/workflows/:workflowName/instances", { workflowName: "a" }],
    ["/a%2Fb/instances", "GET", "/workflows/:workflowName/instances", { workflowName: "a/b" }],
    ["/topics/instances", "POST", "/topics/:topic", { topic: "instances" }],
  ])("%s with %s", (path, method, action, params) => {
    expect(router.find(path).of(method)).toMatchObject({ route: { action }, params });
  });

  test.each([
    "/",
    "",
    "/x",
    "/workflows/a",
    "/workflows//instances",
    "//workflows",
    "/workflows/a/instances/b/c",
    "/topics",
    "/topics//",
  ])("%j finds none", (path) => {
    expect(() => router.find(path)).toThrow(expect.objectContaining({ code: "ROUTE_NOT_FOUND" }));
  });

  test.each(["/%77orkflows", "/workflows/%61/instances", "/topics/a%2Eb", "/topics/a%5fb"])(
    "%s encodes what needs no encoding, to get by a guard in front, and is refused",
    (path) => {
      expect(() => router.find(path)).toThrow(/needs no encoding/);
    },
  );

  test("what needs an encoding has one, and what any client may encode is understood", () => {
    const text = "~a/b ?#%:@!$&'()*+,;=[]\u00e4";
    for (const segment of [encodeURIComponent(text), encodeURIComponent(text).replaceAll("'", "%27")]) {
      expect(router.find(`/topics/${segment}`).of("POST")?.params).toEqual({ topic: text });
    }
  });

  test.each(["/%", "/%zz", "/%ff/instances"])("%s is no text", (path) => {
    expect(() => router.find(path)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  test("where there is one, the methods it has are known", () => {
    const found = router.find("/workflows/a/instances");
    expect([found.allow, found.of("PUT")]).toEqual(["GET, HEAD, POST", undefined]);
  });

  test("a path is told as it is meant: whole, under the mount, with its names encoded", () => {
    const mounted = new Router([route("GET", "/workflows/:workflowName/instances")], "/api");
    expect(mounted.find("/api/a%20b/instances").path).toBe("/workflows/a%20b/instances");
  });

  test("a mount path that is not there is not missed", () => {
    const mounted = new Router([route("GET", "/workflows")], "/api/v1");
    expect(mounted.find("/workflows").path).toBe("/workflows");
    expect(mounted.find("/api/v1/workflows").path).toBe("/workflows");
    expect(() => mounted.find("/api/v2/workflows")).toThrow();
  });
});

describe("what is left of a path under the mount is left as it was sent", () => {
  test.each([
    ["", "/dashboard/a%2Fb/", "/dashboard/a%2Fb/"],
    ["", "/", "/"],
    ["/api", "/api/dashboard//x", "/dashboard//x"],
    ["/api/", "/api/", "/"],
    ["/api", "/api", ""],
    ["/my api", "/my%20api/dashboard", "/dashboard"],
    ["/api", "/dashboard/", "/dashboard/"],
    ["/api", "/apis/dashboard", "/apis/dashboard"],
    ["/api", "/%zz/dashboard", "/%zz/dashboard"],
  ])("mounted at %j: %j", (basePath, pathname, own) => {
    expect(new Router([], basePath).ownPath(pathname)).toBe(own);
  });
});
