/** A service on a developer's own machine, reached under a name that somebody else has pointed at it. */
import { allowAll, createHandler } from "everstep";
import { serve } from "everstep/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendRaw } from "./support/raw-request.ts";
import { sampleDashboard as dashboard } from "./support/sample-dashboard.ts";
import { everyRoute, requestOf, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const hosts = ["127.0.0.1:4610", "localhost:4610", "[::1]:4610"];

async function begin() {
  const watched = createWatched();
  await watched.app.workflows.ORDER.create({ id: "waiting-1" });
  await watched.app.tick();
  const handler = createHandler(watched.app, { authorize: allowAll(), ...everyRoute, hosts, dashboard });
  return { ...watched, handler };
}

/** Each route as it is, and those that stream as streams too. */
const asked = sampleRequests.flatMap((sample) => [
  { ...sample, accept: "application/json" },
  ...(sample.route.stream ? [{ ...sample, accept: "text/event-stream" }] : []),
]);

describe("SEC-6, SEC-29, R-099 where only some names are answered", () => {
  const strangers: readonly (readonly [string, string])[] = [
    ["evil.example", "evil.example"],
    ["evil.example with the port", "evil.example:4610"],
    ["a name that begins like the address", "127.0.0.1.evil.example:4610"],
    ["a name that ends like it", "evil-localhost:4610"],
    ["another port", "localhost:4611"],
    ["no port", "localhost"],
    ["another address of this machine", "127.0.0.2:4610"],
    ["the wildcard address", "0.0.0.0:4610"],
    ["another way to write IPv6", "[0:0:0:0:0:0:0:1]:4610"],
    ["a dot at the end", "localhost.:4610"],
    ["two names", "localhost:4610, evil.example"],
    ["nothing", ""],
  ];

  test.each(strangers)("%s is refused on every route, with nothing read", async (_what, host) => {
    const { handler, calls, contents } = await begin();
    const before = [calls(), contents()];
    for (const sample of asked) {
      for (const url of ["http://localhost:4610", `http://${host.split(",")[0] || "localhost"}`]) {
        const { pathname } = new URL(`http://x${sample.path}`);
        const request = new Request(`${url}${pathname}`, requestOf(sample, { host, accept: sample.accept }));
        const response = await handler(request);
        expect([response.status, (await response.json()).error.code], sample.route.action).toEqual([
          403,
          "HOST_NOT_ALLOWED",
        ]);
      }
    }
    expect([calls(), contents()]).toEqual(before);
  });

  test("a request without any Host is refused, and one whose address is another than its Host", async () => {
    const { handler } = await begin();
    expect((await handler(new Request("http://localhost:4610/livez"))).status).toBe(403);
    const split = new Request("http://evil.example/livez", { headers: { host: "localhost:4610" } });
    expect((await handler(split)).status).toBe(403);
  });

  test.each(hosts)("%s is answered on every route", async (host) => {
    const { handler } = await begin();
    for (const sample of asked) {
      const request = new Request(
        `http://${host}${sample.path}`,
        requestOf(sample, { host, accept: sample.accept }),
      );
      const response = await handler(request);
      expect(response.status, sample.route.action).not.toBe(403);
      await response.body?.cancel();
    }
  });

  test("SEC-29 pages of other origins can neither read there nor open a stream", async () => {
    const { handler, calls } = await begin();
    const before = calls();
    const foreign = [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: "http://localhost:3000" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const headers of foreign) {
      for (const sample of asked) {
        const all = { host: "localhost:4610", accept: sample.accept, ...headers } as Record<string, string>;
        const response = await handler(
          new Request(`http://localhost:4610${sample.path}`, requestOf(sample, all)),
        );
        expect((await response.json()).error.code, sample.route.action).toBe("ORIGIN_NOT_ALLOWED");
      }
    }
    expect(calls()).toBe(before);
  });
});

test("a link on another site leads a person here, but brings nothing into that site's page", async () => {
  const { handler } = await begin();
  const statusFor = async (headers: Record<string, string>, method = "GET"): Promise<number> => {
    const all = { host: "localhost:4610", "sec-fetch-site": "cross-site", ...headers };
    return (await handler(new Request("http://localhost:4610/dashboard/", { method, headers: all }))).status;
  };
  expect(await statusFor({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" })).toBe(200);
  expect(await statusFor({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" })).toBe(403);
  expect(await statusFor({ "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" })).toBe(403);
  expect(await statusFor({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "POST")).toBe(403);
});

describe("SEC-29 a stream asks who it is for as every route does", () => {
  test("a token in the query opens nothing", async () => {
    const { app } = await begin();
    const { bearerToken } = await import("everstep");
    const token = "a-token-of-some-length";
    const handler = createHandler(app, { authorize: bearerToken(token) });
    for (const { path } of asked.filter(({ accept }) => accept === "text/event-stream")) {
      for (const query of [
        "",
        `?token=${token}`,
        `?access_token=${token}`,
        `?authorization=Bearer%20${token}`,
      ]) {
        const headers = { accept: "text/event-stream" };
        expect((await handler(new Request(`http://localhost${path}${query}`, { headers }))).status).toBe(401);
      }
      const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
      const response = await handler(new Request(`http://localhost${path}`, { headers }));
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
      await response.body?.cancel();
    }
  });
});

describe("R-099 over a socket", () => {
  let url: string;
  let end: () => Promise<void>;
  beforeAll(async () => {
    const { app } = await begin();
    let port = 0;
    const handler = (request: Request) =>
      createHandler(app, { authorize: allowAll(), hosts: [`127.0.0.1:${port}`] })(request);
    const served = await serve(handler, { port: 0 });
    port = served.port;
    url = served.url;
    end = () => served.close();
  });
  afterAll(() => end());

  const get = (lines: string) => `GET /workflows HTTP/1.1\r\n${lines}connection: close\r\n\r\n`;
  test("one Host, and the right one, is answered", async () => {
    const { host } = new URL(url);
    expect((await sendRaw(url, get(`Host: ${host}\r\n`))).status).toBe(200);
    expect(
      (await sendRaw(url, `GET ${url}workflows HTTP/1.1\r\nHost: ${host}\r\nconnection: close\r\n\r\n`))
        .status,
    ).toBe(200);
  });

  test.each([
    ["missing", "", 400],
    ["empty", "Host: \r\n", 403],
    ["another's", "Host: evil.example\r\n", 403],
    ["given twice, the right one first", "Host: HOST\r\nHost: evil.example\r\n", 400],
    ["given twice, the right one last", "Host: evil.example\r\nHost: HOST\r\n", 400],
    ["given twice, the same", "Host: HOST\r\nHost: HOST\r\n", 400],
    ["another's, with the right one forwarded", "Host: evil.example\r\nX-Forwarded-Host: HOST\r\n", 403],
    ["written with a user", "Host: HOST@evil.example\r\n", 403],
  ])("a Host that is %s is refused", async (_what, lines, status) => {
    const { host } = new URL(url);
    expect((await sendRaw(url, get(lines.replaceAll("HOST", host)))).status).toBe(status);
  });

  test("an address in the first line that is another than the Host is refused", async () => {
    const { host } = new URL(url);
    const line = `GET http://evil.example/workflows HTTP/1.1\r\nHost: ${host}\r\nconnection: close\r\n\r\n`;
    expect([400, 403]).toContain((await sendRaw(url, line)).status);
  });
});
