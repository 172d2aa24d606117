/** Streams of lists, of one instance and of its logs. */
import { describe, expect, test } from "vitest";
import { instanceWithMeta, instanceWithSteps, logLine } from "../../packages/everstep/src/wire/index.ts";
import { commonHeaders, type Json } from "./support/checked-answer.ts";
import { beginStreaming, expectToFit } from "./support/streaming.ts";

describe("a stream of one instance", () => {
  test("has it with its steps now, and again whenever something about it changed", async () => {
    const { app, runtime, open } = beginStreaming();
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
    expect(second?.data.running).toEqual([]);
    expectToFit(instanceWithSteps, second?.data);
    await app.workflows.ORDER.at("o").sendEvent({ type: "approved" });
    await app.tick();
    await runtime.advance("1 second");
    await stream.until(({ data }) => data.details.status === "complete");
    await stream.cancel();
  });

  test("shows within a second what another process made of it", async () => {
    const { app, other, runtime, open } = beginStreaming();
    await app.workflows.ORDER.create({ id: "o" });
    const stream = await open("/workflows/order/instances/o");
    await stream.next();
    // Its own writes are seen by now.
    await runtime.advance("5 seconds");
    await other().tick();
    await runtime.advance("1 second");
    expect((await stream.next())?.data.details.status).toBe("waiting");
  });

  test("sends nothing while nothing changes, but says that it is there", async () => {
    const { app, runtime, open } = beginStreaming();
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
    const { app, runtime, open } = beginStreaming();
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
      const { app, runtime, open } = beginStreaming();
      const stream = await open(path);
      expect(await stream.next()).toMatchObject({
        event: "instances",
        data: { instances: [], hasNextPage: false },
      });
      for (const id of ["a", "b", "c"]) await app.workflows.QUICK.create({ id });
      await runtime.advance("1 second");
      const [page] = await stream.until(({ data }) => data.hasNextPage);
      expect(page?.data.instances.map(({ id }: Json) => id)).toEqual(["c", "b"]);
      for (const each of page?.data.instances ?? []) expectToFit(instanceWithMeta, each);
      await stream.cancel();
    },
  );

  test("holds to what it is filtered by, and is as brief as asked for", async () => {
    const { app, runtime, open } = beginStreaming();
    const stream = await open(`/instances?idPrefix=new-&createdFrom=${runtime.now()}&brief=true`);
    expect((await stream.next())?.data.instances).toEqual([]);
    for (const id of ["old-1", "new-1"]) await app.workflows.QUICK.create({ id, params: { much: "x" } });
    await app.tick();
    await runtime.advance("1 second");
    const isOver = ({ data }: Json) => data.instances[0]?.details.status === "complete";
    const last = (await stream.until(isOver)).at(-1);
    expect(last?.data.instances).toMatchObject([{ id: "new-1", details: { status: "complete" } }]);
    expect(JSON.stringify(last?.data)).not.toContain("much");
    await stream.cancel();
  });

  test("streams of the same list ask the store once for all of them", async () => {
    const { app, store, runtime, open } = beginStreaming();
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

describe("many streams", () => {
  test("of instances of which nothing is heard are looked at in one question a second, and not read", async () => {
    const { app, other, store, runtime, open } = beginStreaming();
    const ids = Array.from({ length: 60 }, (_, n) => `s-${n}`);
    for (const id of ids) await app.workflows.SLEEPER.create({ id });
    await app.tick();
    const streams = await Promise.all(ids.map((id) => open(`/workflows/sleeper/instances/${id}`)));
    await Promise.all(streams.map((stream) => stream.next()));
    await runtime.advance("2 seconds");
    const reads = () => store.count("getInstance") + store.count("getInstances") + store.count("listSteps");
    const [before, marksBefore] = [reads(), store.count("getMarks")];
    await runtime.advance("10 seconds");
    expect([reads() - before, store.count("getMarks") - marksBefore]).toEqual([0, 10]);
    // Whoever is changed is read, and nobody else.
    await other().workflows.SLEEPER.at("s-7").pause();
    await runtime.advance("1 second");
    expect((await streams[7]?.next())?.data.details.status).toBe("paused");
    expect(reads() - before).toBeLessThan(10);
    await Promise.all(streams.map((stream) => stream.cancel()));
  });

  test("of lists that stay the same are read less and less often, until something was written", async () => {
    const { app, store, runtime, open } = beginStreaming();
    const streams = await Promise.all([1, 2, 3].map((size) => open(`/instances?pageSize=${size}`)));
    await Promise.all(streams.map((stream) => stream.next()));
    await runtime.advance("1 minute");
    const before = store.count("listInstances");
    await runtime.advance("1 minute");
    expect(store.count("listInstances") - before).toBeLessThanOrEqual(3 * 4);
    await app.workflows.QUICK.create({ id: "x" });
    await runtime.advance("300 milliseconds");
    for (const stream of streams) expect((await stream.next())?.data.instances).toHaveLength(1);
    await Promise.all(streams.map((stream) => stream.cancel()));
  });

  test("are read one after the other, so that other requests are not behind all of them", async () => {
    const { app, store, runtime, open } = beginStreaming();
    const streams = await Promise.all(
      Array.from({ length: 30 }, (_, n) => open(`/instances?pageSize=${n + 1}`)),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    let [atOnce, most] = [0, 0];
    store.plan(({ method }) => {
      if (method !== "listInstances") return null;
      return async (apply) => {
        most = Math.max(most, ++atOnce);
        return apply().finally(() => atOnce--);
      };
    });
    await app.workflows.QUICK.create({ id: "x" });
    await runtime.advance("1 second");
    await Promise.all(streams.map((stream) => stream.next()));
    expect(most).toBe(1);
    await Promise.all(streams.map((stream) => stream.cancel()));
  });
});

describe("a stream of log lines", () => {
  const path = "/workflows/chatty/instances/c/logs";

  test("has every line once and in order, those that come later too, and ends with the instance", async () => {
    const { app, runtime, open } = beginStreaming();
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
      expectToFit(logLine, data);
    }
    expect(all.at(-1)).toEqual({ event: "end", data: { status: "complete" } });
  });

  test("goes on after the last line that was had, filtered as asked", async () => {
    const { app, runtime, open } = beginStreaming();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 9 } });
    await app.tick();
    const stream = await open(`${path}?level=info&category=a`, { "last-event-id": "1-1" });
    await app.workflows.CHATTY.at("c").terminate();
    await runtime.advance("1 second");
    const lines = (await stream.rest()).map(({ event, id }) => id ?? event);
    expect(lines).toEqual(["1-7", "end"]);
  });

  test("goes on through restarts, and who lost it before the first line comes back to the run it was at", async () => {
    const { app, runtime, open } = beginStreaming();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 2 } });
    const lost = await open(path);
    const { id } = (await lost.next()) ?? {};
    await lost.cancel();
    await app.tick();
    await app.workflows.CHATTY.at("c").restart();
    await app.tick();
    const stream = await open(path, { "last-event-id": id ?? "" });
    // A run that was restarted begins with the line that says so.
    const seen = await stream.until((each) => each.id === "2-3");
    expect(seen.map((each) => each.id)).toEqual(["1-1", "1-2", "2-1", "2-2", "2-3"]);
    await app.workflows.CHATTY.at("c").restart();
    await app.tick();
    await app.workflows.CHATTY.at("c").terminate();
    await runtime.advance("2 seconds");
    expect((await stream.rest()).map((each) => each.id ?? each.event)).toEqual([
      "3-1",
      "3-2",
      "3-3",
      "3-4",
      "end",
    ]);
  });

  test("of one run ends with that run", async () => {
    const { app, open } = beginStreaming();
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
    const { app } = beginStreaming();
    await app.workflows.CHATTY.create({ id: "c", params: { steps: 1 } });
    const headers = { accept: "text/event-stream", "last-event-id": known };
    const response = await app.fetch(new Request(`http://localhost${path}`, { headers }));
    expect([response.status, (await response.json()).error.code]).toEqual([status, code]);
  });
});
