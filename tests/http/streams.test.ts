/** Streams of lists, of one instance and of its logs, on a clock in the test's hands. */
import { allowAll, defineWorkflow } from "everstep";
import { describe, expect, test } from "vitest";
import { instanceWithMeta, logLine, problem, step } from "../../packages/everstep/src/http/wire-schemas.ts";
import { commonHeaders, type Json } from "./support/checked-answer.ts";
import { EventReader } from "./support/event-reader.ts";
import { createWatched } from "./support/watched-app.ts";

function begin(http = {}) {
  const watched = createWatched({ authorize: allowAll(), http });
  const { app } = watched;
  return {
    ...watched,
    async open(path: string, headers: Record<string, string> = {}): Promise<EventReader> {
      const all = { accept: "text/event-stream", ...headers };
      return new EventReader(await app.fetch(new Request(`http://localhost${path}`, { headers: all })));
    },
  };
}

const fits = (
  schema: typeof instanceWithMeta | typeof step | typeof logLine | typeof problem,
  value: Json,
) => {
  const issues: { path: string; message: string }[] = [];
  schema.read(value, "", issues);
  expect(issues).toEqual([]);
};

describe("a stream of one instance", () => {
  test("has it with its steps now, and again whenever something about it changed", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.ORDER.create({ id: "o" });
    const stream = await open("/workflows/order/instances/o");
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      ...commonHeaders,
      "content-type": "text/event-stream; charset=utf-8",
    });
    const first = await stream.next();
    expect(first).toMatchObject({
      event: "instance",
      data: { id: "o", details: { status: "active" }, steps: [] },
    });
    expect(stream.asides).toEqual(["retry: 1000"]);
    await app.tick();
    await runtime.advance("1 second");
    const [second] = await stream.until(({ data }) => data.details.status === "waiting");
    expect(second?.data.steps.map(({ name }: Json) => name)).toEqual(["charge", "approval"]);
    const { steps, ...instance } = second!.data;
    fits(instanceWithMeta, instance);
    for (const each of steps) fits(step, each);
    await app.workflows.ORDER.at("o").sendEvent({ type: "approved" });
    await app.tick();
    await runtime.advance("1 second");
    await stream.until(({ data }) => data.details.status === "complete");
    await stream.cancel();
  });

  test("sends nothing while nothing changes, but says that it is there", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.SLEEPER.create({ id: "s" });
    await app.tick();
    const stream = await open("/workflows/sleeper/instances/s");
    await stream.next();
    const next = stream.next();
    let hasNext = false;
    void next.then(() => {
      hasNext = true;
    });
    await runtime.advance("46 seconds");
    expect([hasNext, stream.asides]).toEqual([false, ["retry: 1000", ": ok", ": ok", ": ok"]]);
    await stream.cancel();
  });

  test("sends nothing to who has it already, until it is another", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.SLEEPER.create({ id: "s" });
    await app.tick();
    const path = "/workflows/sleeper/instances/s";
    const known = (await (await open(path)).next())?.id ?? "";
    const stream = await open(path, { "last-event-id": known });
    const next = stream.next();
    await runtime.advance("5 seconds");
    await app.workflows.SLEEPER.at("s").pause();
    await runtime.advance("1 second");
    expect((await next)?.data.details.status).toBe("paused");
  });
});

describe("a stream of a list", () => {
  test.each(["/workflows/quick/instances?pageSize=2", "/instances?pageSize=2&status=active"])(
    "%s has the page now, and again whenever it changed",
    async (path) => {
      const { app, runtime, open } = begin();
      const stream = await open(path);
      expect(await stream.next()).toMatchObject({
        event: "instances",
        data: { instances: [], hasNextPage: false },
      });
      for (const id of ["a", "b", "c"]) await app.workflows.QUICK.create({ id });
      await runtime.advance("1 second");
      const [page] = await stream.until(({ data }) => data.hasNextPage);
      expect(page?.data.instances.map(({ id }: Json) => id)).toEqual(["c", "b"]);
      for (const each of page?.data.instances ?? []) fits(instanceWithMeta, each);
      await stream.cancel();
    },
  );

  test("streams of the same list ask the store once for all of them", async () => {
    const { app, store, runtime, open } = begin();
    const streams = await Promise.all(Array.from({ length: 20 }, () => open("/instances")));
    await Promise.all(streams.map((stream) => stream.next()));
    await runtime.advance("1 second");
    const before = store.count("listInstances");
    await app.workflows.QUICK.create({ id: "x" });
    await runtime.advance("100 milliseconds");
    await Promise.all(streams.map((stream) => stream.next()));
    expect(store.count("listInstances") - before).toBe(1);
  });
});

describe("a stream of log lines", () => {
  const path = "/workflows/chatty/instances/c/logs";

  test("has every line once and in order, those that come later too, and ends with the instance", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 250 } });
    await app.tick({ maxSteps: 120 });
    const stream = await open(path);
    const early = await stream.until(({ id }) => id === "1-100");
    await app.tick();
    await app.workflows.CHATTY.at("c").sendEvent({ type: "done" });
    await app.tick();
    await runtime.advance("2 seconds");
    const all = [...early, ...(await stream.rest())];
    expect(all[0]).toEqual({ event: "begin", id: "1-0", data: { runNumber: 1 } });
    const lines = all.filter(({ event }) => event === "log");
    const messages = lines.filter(({ data }) => !data.isReplay).map(({ data }) => data.message);
    expect(messages).toEqual(Array.from({ length: 250 }, (_, n) => `line ${n}`));
    expect(lines.map(({ id }) => id)).toEqual(lines.map((_, n) => `1-${n + 1}`));
    for (const { id, data } of lines) {
      expect(id).toBe(data.id);
      fits(logLine, data);
    }
    expect(all.at(-1)).toEqual({ event: "end", data: { status: "complete" } });
  });

  test("goes on after the last line that was had, filtered as asked", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 9 } });
    await app.tick();
    const stream = await open(`${path}?level=info&category=a`, { "last-event-id": "1-1" });
    await app.workflows.CHATTY.at("c").terminate();
    await runtime.advance("1 second");
    const lines = (await stream.rest()).map(({ event, id }) => id ?? event);
    expect(lines).toEqual(["1-7", "end"]);
  });

  test("goes on through restarts, and who lost it before the first line comes back to the run it was at", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 2 } });
    const lost = await open(path);
    const { id } = (await lost.next()) ?? {};
    await lost.cancel();
    await app.tick();
    await app.workflows.CHATTY.at("c").restart();
    await app.tick();
    const stream = await open(path, { "last-event-id": id ?? "" });
    const seen = await stream.until((each) => each.id === "2-2");
    expect(seen.map((each) => each.id)).toEqual(["1-1", "1-2", "2-1", "2-2"]);
    await app.workflows.CHATTY.at("c").restart();
    await app.tick();
    await app.workflows.CHATTY.at("c").terminate();
    await runtime.advance("2 seconds");
    expect((await stream.rest()).map((each) => each.id ?? each.event)).toEqual(["3-1", "3-2", "end"]);
  });

  test("of one run ends with that run", async () => {
    const { app, open } = begin();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 1 } });
    await app.tick();
    await app.workflows.CHATTY.at("c").restart();
    const events = await (await open(`${path}?runNumber=1`)).rest();
    expect(events.map((each) => each.id ?? each.data)).toEqual(["1-0", "1-1", { status: "terminated" }]);
  });

  test.each([
    ["nonsense", 400, "INVALID_CURSOR"],
    ["1-99999999999999999999", 400, "INVALID_CURSOR"],
    ["7-1", 404, "RUN_NOT_FOUND"],
  ])("after %s is refused", async (known, status, code) => {
    const { app } = begin();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 1 } });
    const headers = { accept: "text/event-stream", "last-event-id": known };
    const response = await app.fetch(new Request(`http://localhost${path}`, { headers }));
    expect([response.status, (await response.json()).error.code]).toEqual([status, code]);
  });
});

describe("streams have an end", () => {
  test("what is not there is answered as such, not with a stream", async () => {
    const { app } = begin();
    for (const path of [
      "/workflows/order/instances/x",
      "/workflows/order/instances/x/logs",
      "/workflows/x/instances",
    ]) {
      const request = new Request(`http://localhost${path}`, { headers: { accept: "text/event-stream" } });
      expect((await app.fetch(request)).status, path).toBe(404);
    }
  });

  test("no more than a number of them are open at once; one that closes makes room", async () => {
    const { app, open } = begin({ streamsMax: 3 });
    await app.workflows.ORDER.create({ id: "o" });
    const paths = ["/instances", "/workflows/order/instances", "/workflows/order/instances/o"];
    const streams = await Promise.all(paths.map((path) => open(path)));
    for (const path of [...paths, "/workflows/order/instances/o/logs"]) {
      const { response } = await open(path);
      expect([response.status, response.headers.get("retry-after")], path).toEqual([503, "10"]);
    }
    await streams[0]?.cancel();
    expect((await open("/instances")).response.status).toBe(200);
  });

  test("a client that goes away closes its stream, and nothing is left that looks or waits", async () => {
    const { app, runtime, store } = begin();
    const gone = new AbortController();
    const request = new Request("http://localhost/instances", {
      headers: { accept: "text/event-stream" },
      signal: gone.signal,
    });
    const stream = new EventReader(await app.fetch(request));
    await stream.next();
    gone.abort();
    await runtime.advance("1 second");
    const before = store.count("listInstances");
    await runtime.advance("1 minute");
    expect([store.count("listInstances"), runtime.nextTimerAt()]).toEqual([before, null]);
    expect(await stream.next()).toBeUndefined();
  });

  test("they end when the app stops, also for readers who read nothing", async () => {
    const { app, runtime, open } = begin();
    await app.workflows.SLEEPER.create({ id: "s" });
    await app.tick();
    const reading = await open("/workflows/sleeper/instances/s");
    await reading.next();
    const idle = await open("/instances");
    const stopped = app.stop();
    await runtime.advance("200 milliseconds");
    const [last] = (await reading.rest()).slice(-1);
    expect(last).toMatchObject({ event: "problem", data: { error: { code: "APP_STOPPED" } } });
    fits(problem, last?.data);
    await idle.rest();
    await stopped;
    await runtime.advance("1 minute");
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("a slow reader is not read ahead for: what it missed it gets as one", async () => {
    const { app, runtime, store, open } = begin();
    const stream = await open("/workflows/quick/instances?pageSize=100");
    await runtime.settle();
    const before = store.count("listInstances");
    for (let n = 0; n < 50; n++) {
      await app.workflows.QUICK.create({ id: `q-${n}` });
      await runtime.advance("20 seconds");
    }
    expect(store.count("listInstances") - before).toBeLessThanOrEqual(2);
    const pages = await stream.until(({ data }) => data.instances.length === 50);
    expect(pages.length).toBeLessThanOrEqual(3);
    expect(stream.asides.length).toBeLessThanOrEqual(2);
    await stream.cancel();
  });

  test("SEC-30 a store that fails ends the stream with a problem that says nothing of the inside", async () => {
    const { app, runtime, store, problems, open } = begin();
    await app.workflows.SLEEPER.create({ id: "s" });
    const stream = await open("/workflows/sleeper/instances/s");
    await stream.next();
    store.fail("getInstance", "fatal");
    await runtime.advance("2 seconds");
    const [told] = await stream.rest();
    expect(told).toMatchObject({ event: "problem", data: { error: { code: "INTERNAL_ERROR" } } });
    const reference: string = told?.data.error.details.reference;
    expect(JSON.stringify(told)).not.toContain("made to fail");
    expect(problems).toEqual([expect.objectContaining({ message: expect.stringContaining(reference) })]);
  });
});

test("an event of any text is one event", async () => {
  const text = "a\nb\r\nid: 7\n\ndata: x\u2028\u0000";
  const odd = defineWorkflow({ name: "odd" }, async (_event, step) => {
    await step.log.info(text, { text });
  });
  const { createWorkflows } = await import("everstep");
  const { memory } = await import("everstep/memory");
  const app = createWorkflows({ workflows: { ODD: odd }, store: memory(), authorize: allowAll() });
  await app.workflows.ODD.create({ id: "o" });
  await app.tick();
  const headers = { accept: "text/event-stream" };
  const response = await app.fetch(new Request("http://localhost/odd/instances/o/logs", { headers }));
  const events = await new EventReader(response).rest();
  expect(events.map(({ event, data }) => [event, data.message])).toEqual([
    ["begin", undefined],
    ["log", text],
    ["end", undefined],
  ]);
  await app.stop();
});
