/** The dashboard's files: where they are, what they say of themselves, and that nothing else can be had by them. */
import { gunzipSync } from "node:zlib";
import { allowAll, bearerToken, createHandler, type HttpOptions } from "everstep";
import { serve } from "everstep/node";
import express from "express";
import { afterEach, describe, expect, test } from "vitest";
import { converse, sendRaw } from "./support/raw-request.ts";
import { sampleDashboard as dashboard, dashboardPaths, page, script } from "./support/sample-dashboard.ts";
import { createWatched } from "./support/watched-app.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const watched = createWatched();
const handlerWith = (http: HttpOptions = {}) => createHandler(watched.app, { dashboard, ...http });
const handler = handlerWith();
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  handler(new Request(`http://localhost${path}`, { method, headers }));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

const always = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  etag: expect.stringMatching(/^W\/"[\w-]+"$/),
};

describe("SEC-27 every file says what it is, who may frame it and how long it may be kept", () => {
  test.each([
    ["/dashboard/", "no-cache", "text/html; charset=utf-8", {}],
    ["/dashboard/workflows/order", "no-cache", "text/html; charset=utf-8", {}],
    ["/dashboard/icon.svg", "no-cache", "image/svg+xml", { vary: "Accept-Encoding" }],
    [
      "/dashboard/assets/index-1a.js",
      "public, max-age=31536000, immutable",
      "text/javascript; charset=utf-8",
      { vary: "Accept-Encoding" },
    ],
  ])("%s", async (path, cacheControl, type, more) => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({
      ...always,
      ...more,
      "cache-control": cacheControl,
      "content-type": type,
    });
  });
});

describe("SEC-1, R-100 the dashboard is there only where it is switched on", () => {
  test("by default there is none", async () => {
    for (const path of dashboardPaths) {
      const response = await createHandler(watched.app, { authorize: allowAll() })(
        new Request(`http://localhost${path}`),
      );
      expect([response.status, (await response.json()).error.code], path).toEqual([404, "ROUTE_NOT_FOUND"]);
    }
  });

  test("its files are for everybody, and open nothing: what it shows is asked of the API, with a token", async () => {
    const before = watched.calls();
    for (const authorize of [undefined, bearerToken("a-token-of-some-length")]) {
      const guarded = createHandler(watched.app, { dashboard, ...(authorize ? { authorize } : {}) });
      const ask = async (path: string) => (await guarded(new Request(`http://localhost${path}`))).status;
      expect(await ask("/dashboard/")).toBe(200);
      expect(await ask("/dashboard/assets/index-1a.js")).toBe(200);
      expect([401, 403]).toContain(await ask("/workflows"));
      expect([401, 403]).toContain(await ask("/overview"));
    }
    expect(watched.calls()).toBe(before);
  });

  test("what is no dashboard is a mistake at the start", () => {
    expect(() => handlerWith({ dashboard: { files: [] } })).toThrow(/http.dashboard has no index.html/);
  });
});

describe("a page finds its files wherever it stands", () => {
  /** Where a browser at this address looks for the script. */
  async function scriptOf(url: string, fetched: Response): Promise<string> {
    const html = await fetched.text();
    const [, base = ""] = /<base href="([^"]*)"/.exec(html) ?? [];
    expect(html).toBe(page(base));
    return new URL("./assets/index-1a.js", new URL(base, url)).href;
  }

  const places = [
    "",
    "workflows",
    "workflows/",
    "workflows/order/o-1",
    "workflows/order/o-1/",
    "workflows/order/a%2Fb%2e%2e/steps/3",
    "workflows/order/order.v1.js",
    "index.html",
    "a//b",
    "%zz",
    "?x=1#here",
  ];

  test.each([
    ["the root", {}, ""],
    ["a mount that it knows", { basePath: "/api/workflows" }, "/api/workflows"],
    ["a mount with a slash at its end", { basePath: "/api/workflows/" }, "/api/workflows"],
    ["a mount that a proxy takes off, and it knows", { basePath: "/api/workflows" }, ""],
    ["a mount that is called dashboard", { basePath: "/dashboard" }, "/dashboard"],
  ])("under %s", async (_what, http, mount) => {
    const mounted = handlerWith(http);
    for (const place of places) {
      const url = `http://localhost${mount}/dashboard/${place}`;
      const found = await scriptOf(url, await mounted(new Request(url)));
      expect(found, place).toBe(`http://localhost${mount}/dashboard/assets/index-1a.js`);
      expect(await (await mounted(new Request(found))).text()).toBe(script);
    }
  });

  test("under a path that a proxy takes off without saying so, links stay under that path", async () => {
    const outside = "https://example.com/internal/flows/dashboard/workflows/order";
    const inside = await handler(new Request("http://backend/dashboard/workflows/order"));
    expect(await scriptOf(outside, inside)).toBe(
      "https://example.com/internal/flows/dashboard/assets/index-1a.js",
    );
  });

  test("in a server that mounts it under a path", async () => {
    const { toNodeHandler } = await import("everstep/node");
    const app = express().use("/api/flows", toNodeHandler(handlerWith({ basePath: "/api/flows" })));
    const server = app.listen(0, "127.0.0.1");
    closing.push(() => server.close());
    await new Promise((listening) => server.once("listening", listening));
    const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const response = await fetch(`${origin}/api/flows/dashboard?tab=1`);
    expect(response.url).toBe(`${origin}/api/flows/dashboard/?tab=1`);
    const found = await scriptOf(response.url, response);
    expect(await (await fetch(found)).text()).toBe(script);
  });

  test("without the slash at its end the address leads to the one with it, wherever that is", async () => {
    for (const method of ["GET", "HEAD"]) {
      const response = await get("/dashboard?tab=1", {}, method);
      expect([response.status, response.headers.get("location")]).toEqual([307, "dashboard/?tab=1"]);
    }
  });

  test("the address of the whole service leads there, unless that has no slash at its end", async () => {
    expect((await get("/")).headers.get("location")).toBe("dashboard/");
    const mounted = handlerWith({ basePath: "/api" });
    const { status, headers } = await mounted(new Request("http://localhost/api/"));
    expect([status, headers.get("location")]).toEqual([307, "dashboard/"]);
    expect((await mounted(new Request("http://localhost/api"))).status).toBe(404);
  });

  test("a workflow that is called dashboard is reached by its whole path", async () => {
    expect((await get("/dashboard/instances")).headers.get("content-type")).toContain("text/html");
    expect((await get("/workflows/dashboard/instances")).headers.get("content-type")).toContain("json");
  });
});

describe("a file is sent as whoever asks can read it", () => {
  const path = "/dashboard/assets/index-1a.js";

  test.each(["gzip", "br, gzip;q=0.5", "GZIP", "*", "gzip ; q=1"])("packed for %j", async (encoding) => {
    const response = await get(path, { "accept-encoding": encoding });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await response.arrayBuffer()).toString()).toBe(script);
  });

  test.each(["", "identity", "br", "gzip;q=0", "gzip; q=0.0, *", "*;q=0", "xgzip"])(
    "plain for %j",
    async (encoding) => {
      const response = await get(path, { "accept-encoding": encoding });
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(await response.text()).toBe(script);
    },
  );

  test("over a listening server, as a browser gets it", async () => {
    const { url, close } = await serve(handlerWith(), { port: 0 });
    closing.push(close);
    const response = await fetch(new URL("dashboard/assets/index-1a.js", url));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(await response.text()).toBe(script);
  });

  test("who has it already hears that it is the same, and gets no bytes", async () => {
    for (const each of ["/dashboard/", "/dashboard/icon.svg", path]) {
      const etag = (await get(each)).headers.get("etag") ?? "";
      const again = await get(each, { "if-none-match": `"x", ${etag}` });
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
      expect(again.headers.get("content-security-policy")).toBe(policy);
      expect((await get(each, { "if-none-match": '"x"' })).status).toBe(200);
    }
    // The page is another one at another depth.
    const etag = (await get("/dashboard/")).headers.get("etag") ?? "";
    expect((await get("/dashboard/a/b", { "if-none-match": etag })).status).toBe(200);
  });

  test("HEAD says the same and sends nothing", async () => {
    for (const each of ["/dashboard/", path, "/dashboard/a/b"]) {
      const [whole, head] = [await get(each), await get(each, {}, "HEAD")];
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(whole.headers));
    }
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"])("%s is not offered, on no file", async (method) => {
    for (const each of dashboardPaths) {
      const response = await get(each, {}, method);
      expect([response.status, response.headers.get("allow")], each).toEqual([405, "GET, HEAD"]);
    }
    expect((await get("/dashboard/", {}, "OPTIONS")).status).toBe(204);
  });
});

describe("SEC-10 nothing but its files can be had", () => {
  test("a script that is not there is not found, instead of being a page", async () => {
    for (const name of ["index-1b.js", "", "a/b.css", "index-1a.js/", "%69ndex-1a.js"]) {
      const response = await get(`/dashboard/assets/${name}`);
      expect([response.status, (await response.json()).error.code], name).toEqual([404, "ROUTE_NOT_FOUND"]);
    }
  });

  const tricks = [
    "/dashboard/..%2f..%2fpackage.json",
    "/dashboard/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/dashboard/..%5c..%5cetc%5cpasswd",
    "/dashboard/..\\..\\etc\\passwd",
    "/dashboard/%2e%2e/%2e%2e/etc/passwd",
    "/dashboard/../../etc/passwd",
    "/dashboard//etc/passwd",
    "/dashboard/%00",
    "/dashboard/%c0%ae%c0%ae/",
    "/dashboard/assets/..%2f..%2findex.html",
    "/dashboard/__proto__",
    "/dashboard/constructor",
    "/dashboard/file:%2f%2f%2fetc%2fpasswd",
  ];

  test.each(tricks)("%s over a socket", async (path) => {
    const { url, close } = await serve(handlerWith(), { port: 0 });
    closing.push(close);
    const { host } = new URL(url);
    const { status, text } = await sendRaw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    const body = text.slice(text.indexOf("\r\n\r\n") + 4);
    if (status === 200) expect(body).toMatch(/^<!doctype html><html><head><base href="(\.\/|(\.\.\/)+)" \/>/);
    else expect(JSON.parse(body).error.code).toBeTypeOf("string");
    expect(text).not.toContain("root:");
  });
});

describe("SEC-6, R-099 files and streams are answered under their own name only", () => {
  const hosts = ["127.0.0.1:4610"];
  const own = handlerWith({ hosts });

  test.each(["evil.example", "evil.example:4610", "127.0.0.1.evil.example:4610", "127.0.0.1", ""])(
    "%j is refused on every file",
    async (host) => {
      for (const path of dashboardPaths)
        for (const accept of ["text/html", "text/event-stream"]) {
          const request = new Request(`http://127.0.0.1:4610${path}`, { headers: { host, accept } });
          const response = await own(request);
          expect([response.status, (await response.json()).error.code], path).toEqual([
            403,
            "HOST_NOT_ALLOWED",
          ]);
        }
    },
  );

  test("a request without any Host is refused, and one with two", async () => {
    for (const path of dashboardPaths)
      expect((await own(new Request(`http://127.0.0.1:4610${path}`))).status, path).toBe(403);
    const { url, close } = await serve(handlerWith(), { port: 0 });
    closing.push(close);
    const { host } = new URL(url);
    const { status } = await converse(url, (socket) =>
      socket.write(`GET /dashboard/ HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`),
    );
    expect(status).toBe(400);
  });

  test("under its own name it is answered, to a person and not to another site's page", async () => {
    const ask = (headers: Record<string, string>) =>
      own(
        new Request("http://127.0.0.1:4610/dashboard/", { headers: { host: "127.0.0.1:4610", ...headers } }),
      );
    expect((await ask({ "sec-fetch-site": "none" })).status).toBe(200);
    expect((await ask({ "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await ask({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await ask({ origin: "http://evil.example" })).status).toBe(403);
  });
});
