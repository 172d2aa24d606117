/** `result()`: waiting for an instance to end, over the stream of the instance. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../../../../tests/support/scripted-server.ts";
import { createFakeRuntime, type FakeRuntime } from "../testing/fake-runtime.ts";
import { createClient, type InstanceClient } from "./index.ts";

let server: ScriptedServer;
let runtime: FakeRuntime;
let instance: InstanceClient<number>;

beforeEach(async () => {
  server = await ScriptedServer.open();
  runtime = createFakeRuntime();
  const client = createClient({ url: server.url, runtime: { ...runtime, float: () => 0 } });
  instance = client.workflow<unknown, number>("order").get("o-1");
});
afterEach(() => server.close());

async function waitsFor(ms: number): Promise<void> {
  await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + ms);
  await runtime.advance(ms);
}

const requests = (count: number) => runtime.waitUntil(() => server.requests.length === count);
const seen = (status: string, more = {}) => ({ id: "o-1", details: { status, ...more } });

test.each([
  ["complete", { output: 42 }],
  ["errored", { error: { name: "Error", message: "no" } }],
  ["terminated", {}],
])("resolves when the instance is %s, and ends the stream", async (status, more) => {
  const stream = server.scriptStream();
  const result = instance.result({ timeout: 60_000 });
  await requests(1);
  stream.event("instance", seen("active"));
  stream.event("instance", seen("waiting"));
  stream.event("instance", seen(status, more));
  expect(await result).toEqual({ status, ...more, timedOut: false });
  await runtime.waitUntil(() => !stream.isOpen);
  expect(runtime.nextTimerAt()).toBeNull();
});

test("goes on waiting over dropped connections", async () => {
  const [first, second] = [server.scriptStream(), server.scriptStream()];
  const result = instance.result();
  await requests(1);
  first.event("instance", seen("active"), "a");
  await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + 45_000);
  first.cut();
  await waitsFor(1000);
  await requests(2);
  second.event("instance", seen("complete", { output: 1 }), "b");
  expect(await result).toEqual({ status: "complete", output: 1, timedOut: false });
});

test("says how the instance is when the time is up", async () => {
  const stream = server.scriptStream();
  server.script({ json: seen("paused") });
  const result = instance.result({ timeout: 5000 });
  await requests(1);
  stream.event("instance", seen("waiting"));
  await waitsFor(5000);
  expect(await result).toEqual({ status: "paused", timedOut: true });
  await runtime.waitUntil(() => !stream.isOpen);
});

test("an instance that has ended at the last moment is no timeout", async () => {
  server.scriptStream();
  server.script({ json: seen("complete", { output: 1 }) });
  const result = instance.result({ timeout: 5000 });
  await requests(1);
  await waitsFor(5000);
  expect(await result).toEqual({ status: "complete", output: 1, timedOut: false });
});

test("a server that is silent when the time is up is not waited for: what was seen last counts", async () => {
  const stream = server.scriptStream();
  server.script("hang");
  const result = instance.result({ timeout: 5000 });
  await requests(1);
  stream.event("instance", seen("waiting"));
  await waitsFor(5000);
  await requests(2);
  await waitsFor(2000);
  expect(await result).toEqual({ status: "waiting", timedOut: true });
});

test("and where nothing was seen, that is said", async () => {
  server.script("hang", "hang");
  const result = instance.result({ timeout: 5000 });
  result.catch(() => {});
  await requests(1);
  await waitsFor(5000);
  await requests(2);
  await waitsFor(2000);
  await expect(result).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  expect(runtime.nextTimerAt()).toBeNull();
});

test("asks now and then when the server has no place for one more stream", async () => {
  const full = { status: 503, json: { error: { code: "TOO_MANY_STREAMS", message: "full", docs: "" } } };
  server.script(full, full, full, { json: seen("active") }, { json: seen("complete", { output: 1 }) });
  const result = instance.result();
  await waitsFor(500);
  await waitsFor(1000);
  await requests(4);
  await waitsFor(2000);
  expect(await result).toMatchObject({ status: "complete", output: 1 });
});

test("an instance that does not exist is not waited for", async () => {
  server.script({ status: 404, json: { error: { code: "INSTANCE_NOT_FOUND", message: "none", docs: "" } } });
  await expect(instance.result()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
});

test("the caller's signal ends the wait", async () => {
  const stream = server.scriptStream();
  const controller = new AbortController();
  const result = instance.result({ signal: controller.signal, timeout: 5000 });
  result.catch(() => {});
  await requests(1);
  controller.abort(new Error("enough"));
  await expect(result).rejects.toThrow("enough");
  await runtime.waitUntil(() => !stream.isOpen);
  expect(runtime.nextTimerAt()).toBeNull();
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, "five"])(
  "a timeout of %s is refused",
  async (timeout) => {
    const failed = instance.result({ timeout: timeout as number });
    await expect(failed).rejects.toMatchObject({ code: "INVALID_DURATION" });
    expect(server.requests).toEqual([]);
  },
);
