/** Runners over HTTP: ticks that come late, and callers who do not wait for a runner. */
import { createServer } from "node:http";
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { serve } from "everstep/node";
import {
  createFakeRuntime,
  createFaultyStore,
  createGate,
  createMemoryDatabase,
  memory,
} from "everstep/testing";
import { describe, expect, test } from "vitest";

const tickRequest = (signal?: AbortSignal) =>
  new Request("http://localhost/_runner/tick", { method: "POST", ...(signal ? { signal } : {}) });

describe("R-011 a tick whose caller has given up, and whose turn another has taken over,", () => {
  test("changes nothing when it comes to its end after all", async () => {
    const database = createMemoryDatabase();
    const runtime = createFakeRuntime();
    const effects: string[] = [];
    const open = (name: string) => {
      const order = defineWorkflow({ name: "order" }, async (_event, step) => {
        await step.do("charge", () => void effects.push(`${name} charged`));
        await step.do("ship", () => void effects.push(`${name} shipped`));
      });
      const store = createFaultyStore(memory({ database }));
      const options = { store, runtime, authorize: allowAll(), http: { tick: true } };
      return {
        store,
        app: createWorkflows({
          ...options,
          workflows: { ORDER: order },
          onNotice: () => {},
          onProblem: () => {},
        }),
      };
    };
    const [slow, fast] = [open("slow"), open("fast")];
    await slow.app.workflows.ORDER.create({ id: "o" });
    const stop = slow.store.stopBefore("commit", { step: "charge" });
    const gone = new AbortController();
    const late = slow.app.fetch(tickRequest(gone.signal));
    await stop.reached;
    gone.abort();
    // Its host is frozen: nobody hears of it, and its lease runs out.
    slow.store.plan(({ method }) => (method === "renew" ? () => new Promise(() => {}) : null));
    await runtime.advance("1 minute");
    const second = await fast.app.fetch(tickRequest());
    expect(await second.json()).toEqual({ processed: 1 });
    expect(await stop.continue()).toBe("superseded");
    await late;
    expect(effects).toEqual(["slow charged", "fast charged", "fast shipped"]);
    const history = await (
      await fast.app.fetch(new Request("http://localhost/order/instances/o/history"))
    ).json();
    expect(
      history.steps.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`),
    ).toEqual(["charge completed", "ship completed"]);
    expect(await (await slow.app.fetch(tickRequest())).json()).toEqual({ processed: 0 });
  });
});

describe("R-090 while the runner is blocked, callers over HTTP do not wait for it: when", () => {
  test.each(["its claim hangs", "all its places are taken"])("%s", async (how) => {
    const runtime = createFakeRuntime();
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("held", { timeout: "1 day" }, () => gate.wait());
      await step.waitForEvent("note", { type: "note" });
    });
    const store = createFaultyStore(memory());
    const app = createWorkflows({
      workflows: { W: workflow },
      store,
      runtime,
      runner: { concurrency: 2 },
      authorize: allowAll(),
    });
    await app.workflows.W.create({ id: "first" });
    await app.start();
    await runtime.settle();
    if (how === "its claim hangs")
      store.plan(({ method }) => (method === "claim" ? () => new Promise(() => {}) : null));
    await runtime.advance("20 seconds");
    const served = await serve(app, { port: 0 });
    const post = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      return (await fetch(new URL(path, served.url), { method: "POST", headers, body: JSON.stringify(body) }))
        .status;
    };
    const before = runtime.now();
    const instances = Array.from({ length: 100 }, (_, n) => ({ id: `b-${n}` }));
    const answers = await Promise.all([
      ...Array.from({ length: 50 }, (_, n) => post("w/instances", { id: `i-${n}` })),
      post("w/instances/batch", { instances }),
      post("w/instances/first/events", { type: "note" }),
      post("topics/news", {}),
      post("w/instances/first/pause", {}),
    ]);
    expect(answers).toEqual([...Array(50).fill(201), 200, 200, 200, 200]);
    // Not a millisecond has passed.
    expect(runtime.now()).toBe(before);
    expect((await app.counts("w")).active).toBe(150);
    await served.close();
    await gate.open();
    const stopped = app.stop({ grace: 0 });
    await runtime.advance("1 minute");
    await stopped;
  });
});

describe("R-091 a port that is taken", () => {
  test("is reported by who wants to listen, and the engine goes on without it", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const quick = defineWorkflow({ name: "quick" }, async () => "done");
    const app = createWorkflows({ workflows: { QUICK: quick }, store: memory(), authorize: allowAll() });
    await app.start();
    await expect(serve(app, { port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is taken by another process.`,
    );
    const instance = await app.workflows.QUICK.create();
    expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ output: "done" });
    expect((await app.fetch(new Request("http://localhost/readyz"))).status).toBe(200);
    const served = await serve(app, { port: 0 });
    expect((await fetch(new URL("readyz", served.url))).status).toBe(200);
    await served.close();
    await app.stop();
    await new Promise((resolve) => other.close(resolve));
  });
});

describe("SEC-1 an app that is open to everybody", () => {
  test("listens on this machine only, unless it is said a second time", async () => {
    const app = createWorkflows({ workflows: {}, store: memory(), authorize: allowAll() });
    await expect(serve(app, { port: 0, host: "0.0.0.0" })).rejects.toThrow(/public: true/);
    const served = await serve(app, { port: 0, host: "0.0.0.0", public: true });
    await served.close();
    await app.stop();
  });
});
