/** Answers on their way from the web to Node, over real sockets. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
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

describe("an answer", () => {
  test("comes with its status, headers and body", async () => {
    handle = () => new Response("ä", { status: 418, headers: { "x-a": "1", "content-type": "text/plain" } });
    const response = await fetch(url);
    expect(response.status).toBe(418);
    expect(Object.fromEntries(response.headers)).toMatchObject({ "x-a": "1", "content-type": "text/plain" });
    expect(await response.text()).toBe("ä");
  });

  test("that is whole in one piece has a length, and the connection stays", async () => {
    handle = () => Response.json({ a: "ä" });
    const first = await fetch(url);
    expect(first.headers.get("content-length")).toBe("10");
    expect(first.headers.get("connection")).toBe("keep-alive");
    await first.text();
  });

  test("keeps several cookies apart", async () => {
    const headers = new Headers([
      ["set-cookie", "a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT"],
      ["set-cookie", "b=2"],
    ]);
    handle = () => new Response(null, { headers });
    const response = await fetch(url);
    expect(response.headers.getSetCookie()).toEqual(["a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT", "b=2"]);
  });

  test.each([204, 304])("%i has no body", async (status) => {
    handle = () => new Response(null, { status, headers: { etag: '"x"' } });
    const client = await RawClient.connect(url);
    client.say("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const heard = await client.untilClosed();
    expect(heard).toContain('etag: "x"');
    expect(heard.endsWith("\r\n\r\n")).toBe(true);
  });

  test("to HEAD has the headers and no body, and the body is not read", async () => {
    const cancelled = createDeferred();
    handle = () =>
      new Response(new ReadableStream({ cancel: () => cancelled.resolve() }), {
        headers: { "content-length": "5" },
      });
    const client = await RawClient.connect(url);
    client.say("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const heard = await client.untilClosed();
    expect(heard).toContain("content-length: 5");
    expect(heard.endsWith("\r\n\r\n")).toBe(true);
    await cancelled.promise;
  });

  test("of several pieces arrives piece by piece", async () => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const bytes = (text: string) => new TextEncoder().encode(text);
    handle = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (given) => {
            controller = given;
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    // The answer has begun before there is anything in it.
    const response = await fetch(url);
    const reader = response.body!.getReader();
    for (const text of ["data: 1\n\n", ": ok\n\n", "data: 2\n\n"]) {
      controller.enqueue(bytes(text));
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(text);
    }
    controller.close();
    expect((await reader.read()).done).toBe(true);
  });

  test("that says something at first and is silent then is not held back", async () => {
    handle = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 1000\n\n")),
        }),
      );
    const reader = (await fetch(url)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("retry: 1000\n\n");
    await reader.cancel();
  });

  test("is made no faster than the client takes it", async () => {
    let pulled = 0;
    const piece = new Uint8Array(2 ** 20);
    handle = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            controller.enqueue(piece);
            if (++pulled === 256) controller.close();
          },
        }),
      );
    const client = await RawClient.connect(url);
    client.socket.pause();
    client.say("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await runtime.waitUntil(() => pulled > 0);
    await runtime.settle();
    expect(pulled).toBeLessThan(64);
    let bytes = 0;
    client.socket.on("data", (data) => {
      bytes += data.length;
    });
    client.socket.resume();
    await client.untilClosed();
    expect(bytes).toBeGreaterThan(256 * 2 ** 20);
  });

  test("that nobody wants any more is cancelled, and the request aborted", async () => {
    const cancelled = createDeferred();
    const aborted = createDeferred();
    handle = (request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
    };
    const controller = new AbortController();
    await fetch(url, { signal: controller.signal });
    controller.abort();
    await cancelled.promise;
    await aborted.promise;
    expect(server.problems).toEqual([]);
  });

  test("that comes when the client is gone is cancelled", async () => {
    const cancelled = createDeferred();
    const arrived = createDeferred();
    handle = async (request) => {
      arrived.resolve();
      await once(request.signal, "abort");
      return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
    };
    const client = await RawClient.connect(url);
    client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await arrived.promise;
    client.cut();
    await cancelled.promise;
  });

  test("is read by a client that is still sending a body nobody wants", async () => {
    handle = () => new Response("too large", { status: 413 });
    const client = await RawClient.connect(url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n");
    await client.until("too large");
    // It is still listened to, so that nothing is reset before the answer was read.
    client.say("x".repeat(900_000));
    const heard = await client.untilClosed();
    expect(heard).toContain("Connection: close".toLowerCase());
    expect(client.socket.errored).toBeNull();
  });
});

test("what is still in buffers when its server closes goes out all the same", async () => {
  let socket!: Socket;
  let isFull = false;
  const body = new ReadableStream<Uint8Array>({
    // Until the system takes no more: the last piece waits in the process.
    pull: async (controller) => {
      await turns(3);
      isFull = socket.writableLength > 0;
      if (isFull) controller.close();
      else controller.enqueue(new Uint8Array(8 * 1024));
    },
  });
  const sent = createDeferred();
  const handler = toNodeHandler(() => new Response(body));
  const plain = createServer((request, response) => {
    void handler(request, response).then(sent.resolve);
  });
  plain.on("connection", (given) => {
    socket = given;
  });
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const client = await RawClient.connect(`http://127.0.0.1:${(plain.address() as AddressInfo).port}`);
  client.socket.pause();
  client.say("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await runtime.waitUntil(() => isFull);
  await runtime.settle();
  plain.close();
  client.socket.resume();
  expect((await client.untilClosed()).endsWith("\r\n0\r\n\r\n")).toBe(true);
  await sent.promise;
});

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}
