/** Streams: what they give, how they survive dropped connections, and how they end. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedServer } from "../../../../tests/support/scripted-server.ts";
import { createFakeRuntime, type FakeRuntime } from "../testing/fake-runtime.ts";
import { type Client, type ClientOptions, createClient, type EverstepError } from "./index.ts";

let server: ScriptedServer;
let runtime: FakeRuntime;

beforeEach(async () => {
  server = await ScriptedServer.open();
  runtime = createFakeRuntime();
});
afterEach(() => server.close());

function clientWith(options: Partial<ClientOptions> = {}): Client {
  return createClient({ url: server.url, runtime: { ...runtime, float: () => 0 }, ...options });
}

async function waitsFor(ms: number): Promise<void> {
  await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + ms);
  await runtime.advance(ms);
}

function readerOf<Item>(items: AsyncIterable<Item>): AsyncIterator<Item> {
  return items[Symbol.asyncIterator]();
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const instance = () => clientWith().workflow("order").get("o-1");
const line = (id: string) => ({ id, message: `line ${id}` });
const requests = (count: number) => runtime.waitUntil(() => server.requests.length === count);
const problem = (status: number, code: string, headers = {}) => ({
  status,
  headers,
  json: { error: { code, message: `It is ${code}.`, docs: "" } },
});

test.each<[string, string, string, () => AsyncIterable<unknown>]>([
  [
    "/instances?status=active",
    "instances",
    "all instances",
    () => clientWith().watchInstances({ status: "active" }),
  ],
  ["/workflows/order/instances", "instances", "a workflow's", () => clientWith().workflow("order").watch()],
  ["/workflows/order/instances/o-1", "instance", "one instance", () => instance().watch()],
  [
    "/workflows/order/instances/o-1/logs?level=warn",
    "log",
    "its logs",
    () => instance().followLogs({ level: "warn" }),
  ],
])("%s gives each event %s: %s", async (url, type, _what, open) => {
  const stream = server.scriptStream();
  const reader = readerOf(open());
  expect(server.requests).toEqual([]);
  const first = reader.next();
  await requests(1);
  stream.write("retry: 1000\n\n: ok\n\n");
  stream.event("something-new", { from: "the future" });
  stream.event(type, { n: 1 });
  stream.event(type, { n: 2 });
  expect(await first).toEqual({ done: false, value: { n: 1 } });
  expect(await reader.next()).toEqual({ done: false, value: { n: 2 } });
  expect(server.requests[0]!.url).toBe(url);
  expect(server.requests[0]!.headers.accept).toBe("text/event-stream");
  await reader.return?.();
});

describe("a connection that drops", () => {
  test("is made again, and goes on after the last event", async () => {
    const [first, second] = [server.scriptStream(), server.scriptStream()];
    const problems: EverstepError[] = [];
    const reader = readerOf(instance().followLogs({ onReconnect: (problem) => problems.push(problem) }));
    const one = reader.next();
    await requests(1);
    first.event("log", line("1-1"), "1-1");
    expect((await one).value).toEqual(line("1-1"));
    first.write("id: 1-2\ndata: unfin");
    first.cut();
    const two = reader.next();
    await waitsFor(1000);
    await requests(2);
    second.event("log", line("1-2"), "1-2");
    expect((await two).value).toEqual(line("1-2"));
    expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1-1"]);
    expect(problems).toMatchObject([{ code: "CONNECTION_FAILED" }]);
    await reader.return?.();
  });

  test("is made again when the server ends it, as soon as the server wants", async () => {
    const [first, second] = [server.scriptStream(), server.scriptStream()];
    const reader = readerOf(instance().watch());
    const one = reader.next();
    await requests(1);
    first.write("retry: 250\n\n");
    first.event("instance", { n: 1 }, "a");
    await one;
    first.end();
    const two = reader.next();
    await waitsFor(250);
    await requests(2);
    second.event("instance", { n: 2 }, "b");
    expect((await two).value).toEqual({ n: 2 });
    await reader.return?.();
  });

  test("is made again when it is silent for longer than the server ever is", async () => {
    const [first, second] = [server.scriptStream(), server.scriptStream()];
    const reader = readerOf(instance().watch());
    const one = reader.next();
    await requests(1);
    first.write(": ok\n\n");
    await waitsFor(45_000);
    await runtime.waitUntil(() => !first.isOpen);
    await waitsFor(1000);
    await requests(2);
    second.event("instance", { n: 1 });
    expect((await one).value).toEqual({ n: 1 });
    await reader.return?.();
  });

  test("for a reason that the server told tells that reason", async () => {
    const [first, second] = [server.scriptStream(), server.scriptStream()];
    const problems: EverstepError[] = [];
    const reader = readerOf(instance().watch({ onReconnect: (problem) => problems.push(problem) }));
    const one = reader.next();
    await requests(1);
    first.event("problem", { error: { code: "STORE_UNAVAILABLE", message: "Later.", docs: "" } });
    await waitsFor(1000);
    await requests(2);
    second.event("instance", { n: 1 });
    expect((await one).value).toEqual({ n: 1 });
    expect(problems).toMatchObject([{ code: "STORE_UNAVAILABLE", message: "Later." }]);
    await reader.return?.();
  });

  test("is tried for as long as somebody reads, ever more slowly", async () => {
    const first = server.scriptStream();
    server.script("drop", problem(503, "STORE_UNAVAILABLE"), "drop", "drop", "drop", "drop");
    const last = server.scriptStream();
    const reader = readerOf(instance().watch());
    const one = reader.next();
    await requests(1);
    first.event("instance", { n: 1 }, "a");
    await one;
    first.cut();
    const two = reader.next();
    for (const ms of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) await waitsFor(ms);
    await requests(8);
    last.event("instance", { n: 2 }, "b");
    expect((await two).value).toEqual({ n: 2 });
    expect(server.requests.slice(1).every(({ headers }) => headers["last-event-id"] === "a")).toBe(true);
    server.scriptStream();
    last.cut();
    const three = reader.next();
    await waitsFor(1000);
    await requests(9);
    await reader.return?.();
    expect(await three).toEqual({ done: true, value: undefined });
  });

  test("is made again when the server has a place for it", async () => {
    const first = server.scriptStream();
    server.script(problem(503, "TOO_MANY_STREAMS", { "retry-after": "10" }));
    server.scriptStream();
    const reader = readerOf(instance().watch());
    void reader.next().catch(() => {});
    await requests(1);
    first.write(": ok\n\n");
    first.end();
    await waitsFor(1000);
    await waitsFor(10_000);
    await requests(3);
    await reader.return?.();
  });

  test.each([
    [401, "UNAUTHORIZED"],
    [404, "INSTANCE_NOT_FOUND"],
  ])("is given up when the server answers %i %s", async (status, code) => {
    const first = server.scriptStream();
    server.script(problem(status, code));
    const reader = readerOf(instance().watch());
    const one = reader.next();
    one.catch(() => {});
    await requests(1);
    first.write(": ok\n\n");
    first.end();
    await waitsFor(1000);
    await expect(one).rejects.toMatchObject({ code, details: { status } });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(runtime.nextTimerAt()).toBeNull();
  });
});

describe("a stream that cannot be opened", () => {
  test("fails like any request, after two more tries", async () => {
    server.script("drop", "drop", "drop");
    const next = readerOf(instance().watch()).next();
    next.catch(() => {});
    await waitsFor(500);
    await waitsFor(1000);
    await expect(next).rejects.toMatchObject({ code: "CONNECTION_FAILED", details: { tries: 3 } });
  });

  test.each([
    ["a problem", problem(404, "INSTANCE_NOT_FOUND"), "INSTANCE_NOT_FOUND"],
    ["a page", { text: "<html>" }, "ANSWER_NOT_UNDERSTOOD"],
  ])("says why: %s", async (_what, answer, code) => {
    server.script(answer);
    await expect(readerOf(instance().watch()).next()).rejects.toMatchObject({ code });
  });

  test("has nothing to give when the server has nothing to say", async () => {
    server.script({ status: 204, text: "" });
    expect(await readerOf(instance().watch()).next()).toEqual({ done: true, value: undefined });
  });
});

describe("a stream ends", () => {
  test("when the consumer leaves its loop, and the request with it", async () => {
    const stream = server.scriptStream();
    const reading = (async () => {
      for await (const each of instance().watch()) return each;
    })();
    await requests(1);
    stream.event("instance", { n: 1 });
    expect(await reading).toEqual({ n: 1 });
    await runtime.waitUntil(() => !stream.isOpen);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("at once when the consumer stops while it waits for the next event", async () => {
    const stream = server.scriptStream();
    const reader = readerOf(instance().watch());
    const next = reader.next();
    await requests(1);
    await runtime.waitUntil(() => stream.isOpen);
    await reader.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await runtime.waitUntil(() => !stream.isOpen);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("without a request when the consumer stops before it began", async () => {
    const reader = readerOf(instance().watch());
    await reader.return?.();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(server.requests).toEqual([]);
  });

  test("with the caller's reason when the signal is given", async () => {
    const stream = server.scriptStream();
    const controller = new AbortController();
    const next = readerOf(instance().watch({ signal: controller.signal })).next();
    next.catch(() => {});
    await requests(1);
    controller.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    await runtime.waitUntil(() => !stream.isOpen);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("of logs when the instance has ended and all lines were sent", async () => {
    const stream = server.scriptStream();
    const lines = all(instance().followLogs());
    await requests(1);
    stream.event("log", line("1-1"), "1-1");
    stream.event("log", line("1-2"), "1-2");
    stream.event("end", { status: "complete" });
    stream.end();
    expect(await lines).toEqual([line("1-1"), line("1-2")]);
    expect(server.requests).toHaveLength(1);
  });

  test("with an error when what the server sends is no JSON", async () => {
    const stream = server.scriptStream();
    const next = readerOf(instance().watch()).next();
    next.catch(() => {});
    await requests(1);
    stream.write("event: instance\ndata: {broken\n\n");
    await expect(next).rejects.toMatchObject({ code: "ANSWER_NOT_UNDERSTOOD" });
    await runtime.waitUntil(() => !stream.isOpen);
  });
});

test("each loop over a stream is a connection of its own", async () => {
  const [first, second] = [server.scriptStream(), server.scriptStream()];
  const watched = instance().watch();
  const readers = [readerOf(watched), readerOf(watched)];
  const one = readers[0]!.next();
  await requests(1);
  const two = readers[1]!.next();
  await requests(2);
  first.event("instance", { n: 1 });
  second.event("instance", { n: 2 });
  expect([(await one).value, (await two).value]).toEqual([{ n: 1 }, { n: 2 }]);
  for (const reader of readers) await reader.return?.();
});

test("characters that are cut into pieces on their way arrive whole", async () => {
  const bytes = Buffer.from('event: instance\ndata: {"text":"ä€😀"}\n\n');
  server.script((response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const next = (at: number): void => {
      if (at < bytes.length) response.write(bytes.subarray(at, at + 1), () => next(at + 1));
    };
    next(0);
  });
  const reader = readerOf(instance().watch());
  expect((await reader.next()).value).toEqual({ text: "ä€😀" });
  await reader.return?.();
});
