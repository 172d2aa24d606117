/** Requests on their way from Node to the web, over real sockets. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HandlerServer, openHandlerServer } from "../../../../tests/support/handler-server.ts";
import { RawClient } from "../../../../tests/support/raw-client.ts";
import { createDeferred } from "../testing/deferred.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { toNodeHandler } from "./index.ts";

const runtime = createFakeRuntime();
type Handler = (request: Request) => Response | Promise<Response>;

let server: HandlerServer;
let url: string;
let handle: Handler;

beforeEach(async () => {
  handle = () => Response.json({});
  server = await openHandlerServer((request) => handle(request));
  url = server.url;
});
afterEach(() => server.close());

/** What the handler got, as it got it. */
async function seen(init: RequestInit, path = "/"): Promise<{ request: Request; text: string }> {
  const got = createDeferred<{ request: Request; text: string }>();
  handle = async (request) => {
    got.resolve({ request, text: await request.clone().text() });
    return new Response(null, { status: 204 });
  };
  await fetch(`${url}${path}`, init);
  return got.promise;
}

describe("a request", () => {
  test("comes with its method, URL, headers and body", async () => {
    const headers = { "x-team": "a", cookie: "a=1; b=2", "content-type": "application/json" };
    const { request, text } = await seen({ method: "PUT", headers, body: '{"a":"ä"}' }, "/x/y%2Fz?q=1&q=2");
    expect(request.method).toBe("PUT");
    expect(request.url).toBe(`${url}/x/y%2Fz?q=1&q=2`);
    expect(Object.fromEntries(request.headers)).toMatchObject({ ...headers, host: new URL(url).host });
    expect(text).toBe('{"a":"ä"}');
  });

  test.each(["GET", "HEAD"])("without a body for %s", async (method) => {
    expect((await seen({ method })).request.body).toBeNull();
  });

  test("without a body when there is none", async () => {
    expect((await seen({ method: "POST" })).request.body).toBeNull();
  });

  test("with the cookies of several headers in one", async () => {
    const got = createDeferred<Request>();
    handle = (request) => {
      got.resolve(request);
      return new Response();
    };
    const client = await RawClient.connect(url);
    client.say("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\nCookie: b=2\r\nX-A: 1\r\nX-A: 2\r\n\r\n");
    const { headers } = await got.promise;
    expect([headers.get("cookie"), headers.get("x-a")]).toEqual(["a=1; b=2", "1, 2"]);
    client.cut();
  });

  test("is read no faster than the handler reads it", async () => {
    const mayRead = createDeferred();
    handle = async (request) => {
      await mayRead.promise;
      return Response.json((await request.arrayBuffer()).byteLength);
    };
    const client = await RawClient.connect(url);
    const mebibytes = 64;
    client.say(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${mebibytes * 2 ** 20}\r\n\r\n`);
    const piece = Buffer.alloc(2 ** 20);
    for (let n = 0; n < mebibytes; n++) client.socket.write(piece);
    // Nobody reads: the client cannot get rid of most of it.
    await standstill(client);
    expect(client.socket.writableLength).toBeGreaterThan(32 * 2 ** 20);
    mayRead.resolve();
    expect(await client.until(`${mebibytes * 2 ** 20}`)).toContain("200 OK");
    client.cut();
  });

  test("is read no faster than that when the handler stops reading", async () => {
    const hasRead = createDeferred();
    handle = async (request) => {
      await request.body!.getReader().read();
      hasRead.resolve();
      return new Promise(() => {});
    };
    const client = await RawClient.connect(url);
    client.say(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${64 * 2 ** 20}\r\n\r\n`);
    for (let n = 0; n < 64; n++) client.socket.write(Buffer.alloc(2 ** 20));
    await hasRead.promise;
    await standstill(client);
    expect(client.socket.writableLength).toBeGreaterThan(32 * 2 ** 20);
    client.cut();
  });

  test("that is destroyed by somebody else is an error for whoever reads its body", async () => {
    const failed = createDeferred<unknown>();
    const reading = createDeferred();
    const handler = toNodeHandler(async (request) => {
      const text = request.text();
      reading.resolve();
      await text.catch(failed.resolve);
      return new Response();
    });
    server.answerWith(async (request, response) => {
      void handler(request, response);
      await reading.promise;
      request.destroy();
    });
    const client = await RawClient.connect(url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    expect(String(await failed.promise)).toContain("broke off");
    client.cut();
  });

  test("that breaks off is an error for whoever reads its body, and no problem", async () => {
    const failed = createDeferred<unknown>();
    handle = async (request) => {
      await request.text().catch(failed.resolve);
      throw new Error("nobody is there any more");
    };
    const client = await RawClient.connect(url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    client.socket.end();
    expect(String(await failed.promise)).toContain("broke off");
    await client.untilClosed();
    expect(server.problems).toEqual([]);
  });

  test("of a client that goes away is aborted", async () => {
    const aborted = createDeferred<unknown>();
    const arrived = createDeferred();
    handle = (request) => {
      request.signal.addEventListener("abort", () => aborted.resolve(request.signal.reason));
      arrived.resolve();
      return new Promise(() => {});
    };
    const client = await RawClient.connect(url);
    client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await arrived.promise;
    client.cut();
    expect(String(await aborted.promise)).toContain("went away");
  });

  test("that was answered is not aborted", async () => {
    let signal: AbortSignal | null = null;
    handle = (request) => {
      signal = request.signal;
      return new Response("x");
    };
    await (await fetch(url)).text();
    server.cutConnections();
    await runtime.settle();
    expect((signal as AbortSignal | null)?.aborted).toBe(false);
  });
});

describe("a request that is none is refused with 400", () => {
  test.each([
    ["two Host headers", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["the same Host twice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"],
    ["another host in its target", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["dots in its path", "GET /a/%2e%2e/b HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a target that is no path", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("for %s, and the handler hears nothing of it", async (_what, text) => {
    let calls = 0;
    handle = () => {
      calls++;
      return new Response();
    };
    const client = (await RawClient.connect(url)).say(text);
    const heard = await client.until("}}");
    expect(heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toContain('"code":"INVALID_ARGUMENT"');
    expect(calls).toBe(0);
    client.cut();
  });

  test.each([
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a length that is no number", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"],
    ["a header that is none", "GET / HTTP/1.1\r\nHost: a\r\nx y: z\r\n\r\n"],
    ["garbage", "\u0016\u0003\u0001\r\n\r\n"],
  ])("for %s, by Node itself", async (_what, text) => {
    const client = (await RawClient.connect(url)).say(text);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("a host that is none does not become one that is allowed", async () => {
    handle = (request) => Response.json(request.url);
    const client = await RawClient.connect(url);
    client.say("GET /x HTTP/1.1\r\nHost: user@localhost/?\r\n\r\n");
    expect(await client.until("/x")).toContain('"http://host.invalid/x"');
    client.cut();
  });

  test("a method that the web does not know is not allowed", async () => {
    const client = (await RawClient.connect(url)).say("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.until("}}")).toMatch(/^HTTP\/1\.1 405 /);
    client.cut();
  });
});

/** Both ends are in this process, so a hundred turns without a byte mean that none will go. */
async function standstill({ socket }: RawClient): Promise<void> {
  for (let quiet = 0, left = socket.writableLength; quiet < 100; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (socket.writableLength !== left) quiet = 0;
    left = socket.writableLength;
  }
}
