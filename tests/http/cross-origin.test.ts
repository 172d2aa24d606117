/** What pages of other sites can do with a browser that can reach the service: nothing, unless their origin is named. */
import { allowAll, createHandler } from "everstep";
import { describe, expect, test } from "vitest";
import { everyRoute, requestOf, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const admin = "https://admin.example.com";
const writes = sampleRequests.filter(({ route }) => route.method === "POST");
const reads = sampleRequests.filter(({ route }) => route.method === "GET");

async function begin(http = {}) {
  const watched = createWatched();
  const handler = createHandler(watched.app, { authorize: allowAll(), ...everyRoute, ...http });
  await watched.app.workflows.ORDER.create({ id: "waiting-1" });
  await watched.app.tick();
  return { ...watched, handler };
}

const codeOf = async (response: Response) =>
  `${response.status} ${(await response.json()).error?.code ?? ""}`.trim();

describe("SEC-4 a write that another site's page makes a browser send", () => {
  const foreign: readonly (readonly [string, Record<string, string>])[] = [
    ["has another origin", { origin: "https://evil.example" }],
    ["has a port of its own", { origin: "http://localhost:8080" }],
    ["has another scheme's host in front", { origin: "http://localhost.evil.example" }],
    ["comes from a sandbox or a file", { origin: "null" }],
    ["has an origin that is none", { origin: "localhost" }],
    ["is cross-site", { "sec-fetch-site": "cross-site" }],
    ["is same-site", { "sec-fetch-site": "same-site", origin: "http://other.localhost" }],
    ["is cross-site under a stolen origin", { "sec-fetch-site": "cross-site", origin: "http://localhost" }],
    [
      "is forwarded under another name",
      { origin: "https://evil.example", "x-forwarded-host": "app.example" },
    ],
  ];

  test.each(foreign)("%s: refused, with nothing changed", async (_what, headers) => {
    const { handler, contents, calls } = await begin();
    const [before, asked] = [contents(), calls()];
    for (const sample of writes)
      expect(await codeOf(await handler(requestOf(sample, headers)))).toBe("403 ORIGIN_NOT_ALLOWED");
    expect([contents(), calls()]).toEqual([before, asked]);
  });

  test.each([
    ["no browser at all", {}],
    ["a page of its own", { origin: "http://localhost", "sec-fetch-site": "same-origin" }],
    ["a page of its own, in an old browser", { origin: "http://localhost" }],
    [
      "a page of its own behind a proxy that renames",
      { origin: "https://app.example", "x-forwarded-host": "app.example" },
    ],
    [
      "a page of its own behind a proxy that says nothing",
      { origin: "https://app.example", "sec-fetch-site": "same-origin" },
    ],
    ["the address bar", { "sec-fetch-site": "none" }],
  ])("comes from %s: answered", async (_who, headers) => {
    const { handler } = await begin();
    const [create] = writes.filter(({ route }) => route.action === "createInstance");
    expect((await handler(requestOf(create!, headers))).status).toBe(201);
  });

  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "",
  ];
  test.each(types)("is of type %j, which a form can send: refused, with a body and without", async (type) => {
    const { handler, contents } = await begin();
    const before = contents();
    for (const { path, body } of writes) {
      for (const sent of [JSON.stringify(body), ""]) {
        const request = new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": type },
          body: sent,
        });
        expect(await codeOf(await handler(request)), path).toBe("415 UNSUPPORTED_MEDIA_TYPE");
      }
    }
    expect(contents()).toBe(before);
  });

  test("is a GET or a HEAD: nothing changes by those, whoever sends them", async () => {
    const { handler, contents } = await begin();
    const before = contents();
    for (const { path } of sampleRequests)
      for (const method of ["GET", "HEAD"]) await handler(new Request(`http://localhost${path}`, { method }));
    expect(contents()).toBe(before);
  });
});

describe("SEC-5 answers for pages of other origins", () => {
  const tricks = [
    "https://admin.example.com.evil.example",
    "https://evil-admin.example.com",
    "https://xadmin.example.com",
    "http://admin.example.com",
    "https://admin.example.com:444",
    "https://admin.example.com.",
    "https://ADMIN.example.com",
    "https://admin.example.com/",
    "https://admin.example.com@evil.example",
    "null",
    "*",
    "",
  ];
  const headersOf = (response: Response) =>
    Object.fromEntries([...response.headers].filter(([name]) => /^(access-control|vary)/.test(name)));

  test("there is none unless an origin is named", async () => {
    const { handler } = await begin();
    for (const sample of reads) {
      const response = await handler(requestOf(sample, { origin: admin }));
      expect(headersOf(response), sample.route.action).toEqual({});
    }
    const preflight = new Request("http://localhost/workflows", {
      method: "OPTIONS",
      headers: { origin: admin },
    });
    expect(headersOf(await handler(preflight))).toEqual({});
  });

  test("an origin that is named may read and write, exactly under that name", async () => {
    const { handler } = await begin({ cors: { origins: [admin] } });
    for (const sample of sampleRequests) {
      const response = await handler(requestOf(sample, { origin: admin, "sec-fetch-site": "cross-site" }));
      expect(response.status, sample.route.action).not.toBe(403);
      expect(headersOf(response), sample.route.action).toEqual({
        vary: "Origin",
        "access-control-allow-origin": admin,
        "access-control-expose-headers": "etag, retry-after",
      });
    }
  });

  test("what a hook answers itself may vary with more than the origin", async () => {
    const { app } = await begin();
    const request = () => new Response("who are you?", { status: 401, headers: { vary: "Cookie" } });
    const handler = createHandler(app, { authorize: { request }, cors: { origins: [admin] } });
    const response = await handler(new Request("http://localhost/workflows", { headers: { origin: admin } }));
    expect(headersOf(response)).toMatchObject({
      vary: "Cookie, Origin",
      "access-control-allow-origin": admin,
    });
  });

  test.each(tricks)("%j is not that name", async (origin) => {
    const { handler } = await begin({ cors: { origins: [admin] } });
    for (const sample of reads) {
      const response = await handler(requestOf(sample, { origin }));
      expect(headersOf(response), sample.route.action).toEqual({ vary: "Origin" });
    }
    for (const method of ["OPTIONS", "POST"]) {
      const headers = { origin, "access-control-request-method": "POST" };
      const response = await handler(new Request("http://localhost/order/instances", { method, headers }));
      expect(headersOf(response)).toEqual({ vary: "Origin" });
      if (method === "POST") expect(await codeOf(response)).toBe("403 ORIGIN_NOT_ALLOWED");
    }
  });

  test("who may is asked before: methods and headers, for ten minutes, and never with cookies", async () => {
    const { handler } = await begin({ cors: { origins: [admin] } });
    const headers = {
      origin: admin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-evil",
    };
    const response = await handler(
      new Request("http://localhost/order/instances", { method: "OPTIONS", headers }),
    );
    expect(response.status).toBe(204);
    expect(headersOf(response)).toEqual({
      vary: "Origin",
      "access-control-allow-origin": admin,
      "access-control-allow-methods": "GET, HEAD, POST",
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key, if-none-match, last-event-id",
      "access-control-max-age": "600",
      "access-control-expose-headers": "etag, retry-after",
    });
  });

  test.each([
    "*",
    "null",
    "https://*.example.com",
    "admin.example.com",
    "https://admin.example.com/",
    "https://a.example/x",
    "",
  ])("%j cannot be allowed: it names no origin", async (origin) => {
    const { app } = createWatched();
    expect(() => createHandler(app, { cors: { origins: [origin] } })).toThrow(/is no origin/);
  });
});
