/** Clients that are slow, silent or endless, on real sockets: none of them holds a place for long (SEC-13). */
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
  const server = await serve(app, { port: 0, closeTimeout: 50, ...options });
  running.push(server);
  return server;
}

const quick = { headersTimeout: 100, requestTimeout: 200 };
const readAll = async (request: Request) => new Response(`read ${(await request.text()).length}`);

/** Says one more character whenever the one before has gone out, so that it is never silent. */
function drip(client: RawClient): void {
  if (!client.socket.destroyed) client.socket.write("x", () => setImmediate(() => drip(client)));
}

describe("a client is cut off", () => {
  test("that connects and says nothing", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    expect(await client.untilClosed()).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test("that never finishes its headers", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    client.say("GET / HTTP/1.1\r\nHost: a\r\nX-Long: ");
    drip(client);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 (408|431) /);
  });

  test("that drips its body", async () => {
    const failed = createDeferred<unknown>();
    const app = (request: Request) =>
      request.text().then(
        () => new Response(),
        (problem) => {
          failed.resolve(problem);
          throw problem;
        },
      );
    const client = await RawClient.connect((await start(app, quick)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    drip(client);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /);
    expect(String(await failed.promise)).toContain("broke off");
  });

  test("that announces more than it sends", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("that sends more than it announced", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcdefgh\r\n\r\n");
    expect(await client.untilClosed()).toMatch(/HTTP\/1\.1 400 /);
  });

  test("whose chunks never end", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("whose chunks are none", async () => {
    const client = await RawClient.connect((await start(readAll, quick)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n");
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("that goes on sending what nobody wants", async () => {
    const app = () => new Response("no", { status: 413 });
    const client = await RawClient.connect((await start(app)).url);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const flood = (): void => {
      if (!client.socket.destroyed) client.socket.write(chunk, () => setImmediate(flood));
    };
    flood();
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("that does not take its answer", async () => {
    const runtime = createFakeRuntime();
    const cancelled = createDeferred();
    let pulled = 0;
    const app = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            pulled++;
            controller.enqueue(new Uint8Array(2 ** 20));
          },
          cancel: () => cancelled.resolve(),
        }),
      );
    const client = await RawClient.connect((await start(app, { writeTimeout: 60_000, runtime })).url);
    client.socket.pause();
    client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + 60_000);
    await runtime.settle();
    await runtime.advance("60 seconds");
    await cancelled.promise;
    expect(pulled).toBeLessThan(64);
    client.cut();
  });

  test("that comes when there is no more place", async () => {
    const server = await start(() => new Response("hello"), { maxConnections: 2 });
    const first = await RawClient.connect(server.url);
    const second = await RawClient.connect(server.url);
    for (const client of [first, second]) {
      client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.until("hello");
    }
    const third = await RawClient.connect(server.url);
    expect(await third.untilClosed()).toBe("");
    first.cut();
    second.cut();
  });

  test("whose headers are larger than headers ever are", async () => {
    const client = await RawClient.connect((await start(readAll)).url);
    client.say(`GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${"x".repeat(64 * 1024)}\r\n\r\n`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 431 /);
  });
});

test("an answer may take longer than a request: streams of events are not cut", async () => {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const events = (request: Request) =>
    new URL(request.url).pathname === "/"
      ? new Response(
          new ReadableStream<Uint8Array>({
            start: (given) => {
              controller = given;
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        )
      : readAll(request);
  const { url } = await start(events, { ...quick, keepAliveTimeout: 50 });
  const stream = (await RawClient.connect(url)).say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await stream.until("\r\n\r\n");
  // Somebody else runs out of time meanwhile, so that much time has passed for the stream, too.
  const slow = (await RawClient.connect(url)).say("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
  await slow.untilClosed();
  controller.enqueue(new TextEncoder().encode("data: still here\n\n"));
  await stream.until("still here");
  stream.cut();
});
