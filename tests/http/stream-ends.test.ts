/** How streams end: with their clients, with the app, with the store. */
import { allowAll, createWorkflows, defineWorkflow, refuse } from "everstep";
import { memory } from "everstep/memory";
import { describe, expect, test } from "vitest";
import { problem } from "../../packages/everstep/src/wire/index.ts";
import { EventReader } from "./support/event-reader.ts";
import { beginStreaming, expectToFit } from "./support/streaming.ts";
import { createWatched } from "./support/watched-app.ts";

describe("streams have an end", () => {
  test("what is not there is answered as such, not with a stream", async () => {
    const { app } = beginStreaming();
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
    const { app, open } = beginStreaming({ maxStreams: 3 });
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

  test("one client has only so many of them, whoever else has none; who it is, its credentials say", async () => {
    const watched = createWatched({ authorize: { request: () => {} }, http: { maxStreamsPerClient: 2 } });
    const open = async (headers: Record<string, string>): Promise<number> => {
      const all = { accept: "text/event-stream", ...headers };
      const response = await watched.app.fetch(new Request("http://localhost/instances", { headers: all }));
      if (response.status !== 200)
        expect((await response.json()).error.message).toContain("maxStreamsPerClient");
      return response.status;
    };
    const [alice, bob] = [{ authorization: "Bearer a" }, { authorization: "Bearer b" }];
    expect([await open(alice), await open(alice), await open(alice)]).toEqual([200, 200, 503]);
    expect(await open({ authorization: "bearer   a", cookie: "x=1" })).toBe(503);
    expect(await open(bob)).toBe(200);
    expect([await open({ cookie: "s=1" }), await open({ cookie: "s=2" }), await open({})]).toEqual([
      200, 200, 200,
    ]);
  });

  test("whoever may not read any more loses it within a minute, with a problem that says so", async () => {
    let isRevoked = false;
    const revoked = (): void => {
      if (isRevoked) throw refuse(401, "The session is over.");
    };
    for (const authorize of [{ request: revoked }, { request: () => {}, read: revoked }]) {
      isRevoked = false;
      const { app, runtime } = createWatched({ authorize });
      const headers = { accept: "text/event-stream" };
      const stream = new EventReader(await app.fetch(new Request("http://localhost/instances", { headers })));
      await stream.next();
      await runtime.advance("5 minutes");
      isRevoked = true;
      await runtime.advance("61 seconds");
      expect(await stream.rest()).toMatchObject([
        { event: "problem", data: { error: { code: "FORBIDDEN" } } },
      ]);
    }
  });

  test("a client that goes away closes its stream, and nothing is left that looks or waits", async () => {
    const { app, runtime, store } = beginStreaming();
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

  test("they end as soon as the app begins to stop, also for readers who read nothing", async () => {
    const { app, runtime, open } = beginStreaming();
    await app.workflows.SLEEPER.create({ id: "s" });
    await app.tick();
    const reading = await open("/workflows/sleeper/instances/s");
    await reading.next();
    const idle = await open("/instances");
    await runtime.settle();
    const stopped = app.stop();
    await runtime.advance("200 milliseconds");
    expect(runtime.nextTimerAt()).toBeNull();
    const [last] = (await reading.rest()).slice(-1);
    expect(last).toMatchObject({ event: "problem", data: { error: { code: "APP_STOPPED" } } });
    expectToFit(problem, last?.data);
    expect((await idle.rest()).at(-1)).toEqual(last);
    await stopped;
  });

  test("a slow reader is not read ahead for: what it missed it gets as one", async () => {
    const { app, runtime, store, open } = beginStreaming();
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
    const { app, runtime, store, problems, open } = beginStreaming();
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
