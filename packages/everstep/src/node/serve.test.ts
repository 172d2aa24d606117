import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { type Authorize, bearerToken, createWorkflows, refuse } from "everstep";
import { memory } from "everstep/memory";
import { afterEach, describe, expect, test } from "vitest";
import { RawClient } from "../../../../tests/support/raw-client.ts";
import { createDeferred } from "../testing/deferred.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { type Served, type ServeOptions, serve, type WebHandler } from "./index.ts";

const running: Served[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(app: WebHandler, options: ServeOptions = {}): Promise<Served> {
  const server = await serve(app, { port: 0, closeTimeout: 100, ...options });
  running.push(server);
  return server;
}

const hello = () => new Response("hello");
const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const openApp = { fetch: hello, isOpen: true };

describe("serve", () => {
  test("listens on this machine only, and says where", async () => {
    const { url, port } = await start(hello);
    expect(url).toBe(`http://127.0.0.1:${port}/`);
    expect(await (await fetch(url)).text()).toBe("hello");
  });

  test.each([
    ["localhost", /^http:\/\/localhost:\d+\/$/],
    ["::1", /^http:\/\/\[::1\]:\d+\/$/],
    ["[::1]", /^http:\/\/\[::1\]:\d+\/$/],
    ["0.0.0.0", /^http:\/\/localhost:\d+\/$/],
  ])("on %s gives a URL that leads there", async (host, pattern) => {
    const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
      list?.some(({ address }) => address === "::1"),
    );
    if (host.includes("::1") && !hasIpv6) return;
    const { url } = await start(hello, { host });
    expect(url).toMatch(pattern);
    expect(await (await fetch(url)).text()).toBe("hello");
  });

  test("on a port that is taken says which, and what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    await expect(serve(hello, { port })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(new RegExp(`^Port ${port} of 127.0.0.1 is taken .* port 0 takes any`)),
      details: { port },
    });
    other.close();
  });

  test.each<[string, ServeOptions, string]>([
    ["a port that is none", { port: 70_000 }, "port is 70000"],
    ["a port that is no number", { port: "4610" as never }, "port is 4610"],
    ["a host that has no address", { host: "nowhere.invalid" }, 'no address for host "nowhere.invalid"'],
    ["a host of another machine", { port: 0, host: "192.0.2.1" }, "no address of this machine"],
    ["an empty host, which would be all addresses", { host: "" }, "The host must be"],
    ["a time that is none", { headersTimeout: -1 }, "headersTimeout is -1"],
    ["no time at all", { requestTimeout: 0 }, "requestTimeout is 0"],
  ])("refuses %s", async (_what, options, message) => {
    await expect(serve(hello, options)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
    });
  });

  test("refuses what is no app", async () => {
    await expect(serve({} as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("does not begin when its signal has been given", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(serve(hello, { port: 0, signal })).rejects.toThrow("enough");
  });
});

describe("an app that everybody may use (SEC-1)", () => {
  test.each(["0.0.0.0", "::"])("does not listen on %s, where other machines can reach it", async (host) => {
    await expect(serve(openApp, { port: 0, host })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/allowAll\(\).*bearerToken.*127\.0\.0\.1.*public: true/),
    });
  });

  test("nor as a function", async () => {
    const handler = Object.assign(() => new Response(), { isOpen: true });
    await expect(serve(handler, { port: 0, host: "0.0.0.0" })).rejects.toThrow("public: true");
  });

  test("listens there when that is said twice", async () => {
    await start(openApp, { host: "0.0.0.0", public: true });
  });

  test.each(["127.0.0.1", "127.0.0.2", "localhost"])(
    "listens on %s, which no other machine can reach",
    async (host) => {
      await start(openApp, { host });
    },
  );

  test("R-099 is answered on this machine under its own names only, unless it is public or names others", async () => {
    const statusAs = async ({ url }: Served, host: string): Promise<string> => {
      const client = await RawClient.connect(url);
      client.say(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return (await client.untilClosed()).slice(9, 12);
    };
    const server = await start(openApp);
    for (const name of ["127.0.0.1", "localhost", "[::1]"])
      expect(await statusAs(server, `${name}:${server.port}`)).toBe("200");
    for (const host of ["evil.example", `evil.example:${server.port}`, "localhost", "127.0.0.1.evil.example"])
      expect(await statusAs(server, host)).toBe("403");
    expect(await statusAs(await start(openApp, { public: true }), "shop.example")).toBe("200");
    expect(await statusAs(await start({ ...openApp, hosts: ["shop.example"] }), "shop.example")).toBe("200");
    expect(await statusAs(await start(hello), "shop.example")).toBe("200");
  });

  test("is known although its hooks only accept everything", async () => {
    const accepts = { request: () => {} };
    const reads = { ...accepts, management: () => refuse(403, "no") };
    const appWith = (authorize: Authorize) =>
      createWorkflows({ workflows: {}, store: memory(), authorize, onNotice: () => {} });
    await expect(serve(appWith(accepts), { port: 0, host: "0.0.0.0" })).rejects.toThrow("public: true");
    await start(appWith(reads), { host: "0.0.0.0" });
    await start(appWith(bearerToken("a-token-of-some-length")), { host: "0.0.0.0" });
  });

  test("one with rules listens anywhere", async () => {
    await start({ fetch: hello, isOpen: false }, { host: "0.0.0.0" });
  });
});

describe("close", () => {
  test("accepts nothing more, and ends idle connections at once", async () => {
    const server = await start(hello, { closeTimeout: 60_000 });
    const client = await RawClient.connect(server.url);
    client.say(get);
    await client.until("hello");
    await server.close();
    await client.untilClosed();
    await expect(RawClient.connect(server.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("ends connections at once that were opened in advance and never used", async () => {
    const server = await start(hello, { closeTimeout: 60_000 });
    const unused = await RawClient.connect(server.url);
    // The server takes connections in their order: with this answer it knows the first one too.
    const other = (await RawClient.connect(server.url)).say(get);
    await other.until("hello");
    await server.close();
    expect(await unused.untilClosed()).toBe("");
  });

  test("lets requests under way finish, and closes their connections then", async () => {
    const arrived = createDeferred();
    const mayAnswer = createDeferred();
    const app = async () => {
      arrived.resolve();
      await mayAnswer.promise;
      return new Response("late");
    };
    const server = await start(app, { closeTimeout: 60_000 });
    const client = (await RawClient.connect(server.url)).say(get);
    await arrived.promise;
    const closed = server.close();
    expect(server.close()).toBe(closed);
    mayAnswer.resolve();
    const heard = await client.untilClosed();
    expect(heard).toMatch(/connection: close/i);
    expect(heard).toMatch(/late$/);
    await closed;
  });

  test("lets a slow client have all of an answer that has begun", async () => {
    const pieces = 32;
    let sent = 0;
    const app = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            controller.enqueue(new Uint8Array(2 ** 20));
            if (++sent === pieces) controller.close();
          },
        }),
      );
    const server = await start(app, { closeTimeout: 60_000 });
    const client = await RawClient.connect(server.url);
    client.say(get);
    await client.until("\r\n\r\n");
    client.socket.pause();
    const closed = server.close();
    client.socket.resume();
    await client.untilClosed();
    await closed;
    expect(sent).toBe(pieces);
    expect(client.heard.endsWith("\r\n0\r\n\r\n")).toBe(true);
  });

  test("ends streams of events at once, so that their clients come back elsewhere", async () => {
    const cancelled = createDeferred();
    const body = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 1000\n\n")),
        cancel: () => cancelled.resolve(),
      });
    const app = () => new Response(body(), { headers: { "content-type": "text/event-stream" } });
    const server = await start(app, { closeTimeout: 60_000 });
    const client = (await RawClient.connect(server.url)).say(get);
    await client.until("retry");
    await server.close();
    await cancelled.promise;
    expect(await client.untilClosed()).toMatch(/0\r\n\r\n$/);
  });

  test("cuts off what has not finished in time, and tells its handler", async () => {
    const runtime = createFakeRuntime();
    const arrived = createDeferred();
    const aborted = createDeferred();
    const app = (request: Request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      arrived.resolve();
      return new Promise<Response>(() => {});
    };
    const server = await start(app, { closeTimeout: 5000, runtime });
    const client = (await RawClient.connect(server.url)).say(get);
    await arrived.promise;
    const closed = server.close();
    await runtime.advance("4999 ms");
    expect(client.isClosed).toBe(false);
    await runtime.advance("1 ms");
    await closed;
    await aborted.promise;
    expect(await client.untilClosed()).toBe("");
  });

  test("comes with the signal", async () => {
    const controller = new AbortController();
    const server = await start(hello, { signal: controller.signal });
    controller.abort();
    await server.close();
    await expect(RawClient.connect(server.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
