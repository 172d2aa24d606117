/** How a check goes through a store: reads only, page by page, past everything that stands in its way. */
import { spawnSync } from "node:child_process";
import { createWorkflows, defineWorkflow, EverstepError } from "everstep";
import { createMemoryDatabase, memory } from "everstep/memory";
import { createFakeRuntime, createFaultyStore, createGate, createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { interceptStore, type StoreCall } from "../../packages/everstep/src/testing/intercept-store.ts";
import { onEachSite } from "../regressions/behind-the-store.ts";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const order = defineWorkflow({ name: "order" }, async ({ payload }, step) => {
  const price = await step.do("price", async () => payload);
  await step.waitForEvent("paid", { type: "paid" });
  return price;
});

const broken = defineWorkflow({ name: "order" }, async (_event, step) => step.sleep("price", "1 hour"));
const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `i${n}`);

onEachStore("a check", (tell) => {
  test("looks at all unfinished instances and at no others", async () => {
    const story = tell({ ORDER: order });
    const { ORDER } = story.workflows;
    await ORDER.createBatch(
      ["waiting", "paused", "terminated", "complete"].map((id) => ({ id, params: {} })),
    );
    await story.runUntilIdle();
    await (await ORDER.get("paused")).pause();
    await (await ORDER.get("terminated")).terminate();
    await story.sendEvent("complete", { type: "paid" });
    await story.runUntilIdle();
    await ORDER.create({ id: "new" });
    const report = await story.app.check();
    expect(report).toMatchObject({
      checked: 3,
      counts: { identical: 2, continues: 1 },
      complete: true,
      ok: true,
    });
    expect(report.findings).toMatchObject([{ instanceId: "new", status: "active", newSteps: ["price"] }]);
  });

  test("goes through the store page by page, each instance once", async () => {
    const story = tell({ ORDER: order });
    const all = ids(25);
    await story.workflows.ORDER.createBatch(all.map((id) => ({ id })));
    await story.runUntilIdle();
    const seen: string[] = [];
    const progress: number[] = [];
    let after: string | undefined;
    for (let calls = 1; ; calls++) {
      const report = await story.app.check({
        workflows: { ORDER: broken },
        limit: 10,
        concurrency: 4,
        ...(after === undefined ? {} : { after }),
        onProgress: ({ checked }) => progress.push(checked),
      });
      seen.push(...report.findings.map(({ instanceId }) => instanceId));
      after = report.after;
      expect(report.complete).toBe(after === undefined);
      if (report.complete) break;
      expect(calls).toBeLessThan(5);
    }
    expect(seen.sort()).toEqual(all.sort());
    expect(progress).toEqual([4, 8, 10, 4, 8, 10, 4, 5]);
  });

  test("comes to what was created meanwhile, at its end", async () => {
    const story = tell({ ORDER: order });
    const { ORDER } = story.workflows;
    await ORDER.createBatch(["one", "two"].map((id) => ({ id })));
    const first = await story.app.check({ limit: 1 });
    await story.clock.advance("1 second");
    await ORDER.create({ id: "three" });
    const second = await story.app.check({ limit: 5, ...(first.after && { after: first.after }) });
    const seen = [first, second].flatMap(({ findings }) => findings.map(({ instanceId }) => instanceId));
    expect(seen.sort()).toEqual(["one", "three", "two"]);
  });

  test("can be about one workflow", async () => {
    const other = defineWorkflow({ name: "other" }, async (_event, step) => step.sleep("nap", "1 hour"));
    const story = tell({ ORDER: order, OTHER: other });
    await story.workflows.ORDER.create({ id: "o" });
    await story.workflows.OTHER.create({ id: "x" });
    await story.runUntilIdle();
    const report = await story.app.check({ workflows: { ORDER: broken }, workflowName: "order" });
    expect(report).toMatchObject({ checked: 1, counts: { mismatch: 1, unknown: 0 } });
  });

  test("is about the current run", async () => {
    const story = tell({ ORDER: order });
    const instance = await story.workflows.ORDER.create({ id: "i" });
    await story.runUntilIdle();
    await instance.restart();
    expect((await story.app.check({ workflows: { ORDER: broken } })).findings).toMatchObject([
      { runNumber: 2, classification: "continues", message: expect.stringContaining("Nothing is recorded") },
    ]);
  });

  test("leaves everything in the store as it was", async () => {
    const story = tell({ ORDER: order });
    const instance = await story.workflows.ORDER.create({ id: "i" });
    await story.runUntilIdle();
    const before = await instance.exportHistory();
    const ref = { workflowName: "order", instanceId: "i" };
    const record = await story.app.store.getInstance(ref);
    for (const workflows of [{ ORDER: order }, { ORDER: broken }, {}]) await story.app.check({ workflows });
    await story.runUntilIdle();
    expect(await instance.exportHistory()).toEqual(before);
    expect(await story.app.store.getInstance(ref)).toEqual(record);
  });

  test("does not need a store that somebody has used in this process", async () => {
    const story = tell({ ORDER: order });
    await story.workflows.ORDER.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    expect(await story.app.check()).toMatchObject({ checked: 1, ok: true });
  });
});

onEachSite("a check of damaged rows", (take) => {
  test.each([
    [
      "params",
      {
        sql: "UPDATE <instance> SET params = '{\"a\":' WHERE instance_id = 'bad'",
        redis: () => ["HSET", ":instance:1:w:bad", "params", '{"a":'],
      },
    ],
    [
      "a step's result",
      {
        sql: "UPDATE <step> SET result = '{\"a\":' WHERE run = ? AND step_index = 0",
        redis: (runId: number | string) => ["HSET", `:steps:${runId}`, "0", "what is this"],
      },
    ],
  ])("says so of the instance whose %s nobody can read, and looks at all others", async (_what, damage) => {
    const site = take();
    const workflow = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
      await step.do("first", async () => payload);
      await step.sleep("nap", "1 hour");
    });
    const story = createTestHarness({ workflows: { W: workflow }, store: site.open });
    await story.workflows.W.createBatch(["bad", ...ids(5)].map((id) => ({ id, params: { id } })));
    await story.runUntilIdle();
    await site.tamper(damage, (await recordOf(story, "bad")).runId);
    const report = await story.app.check();
    expect(report).toMatchObject({ checked: 6, counts: { identical: 5, unreadable: 1 }, ok: false });
    expect(report.findings).toMatchObject([
      { instanceId: "bad", message: expect.stringContaining("HISTORY_UNREADABLE") },
    ]);
    await story.stop();
  });
});

describe("a check", () => {
  /** A store with one waiting order, and an app on it whose calls to the store are heard. */
  async function heard(around?: (call: StoreCall, apply: () => Promise<unknown>) => Promise<unknown>) {
    const database = createMemoryDatabase();
    const story = createTestHarness({ workflows: { ORDER: order }, store: () => memory({ database }) });
    const instance = await story.workflows.ORDER.create({ id: "i" });
    await story.runUntilIdle();
    const calls: string[] = [];
    const store = interceptStore(memory({ database }), (call, apply) => {
      calls.push(call.method);
      return around ? around(call, apply) : apply();
    });
    return { story, instance, calls, store, app: createWorkflows({ workflows: { ORDER: order }, store }) };
  }

  test("only reads", async () => {
    const { app, calls } = await heard();
    await app.check();
    await app.check({ workflows: { ORDER: broken } });
    const reads = ["migrate", "listInstances", "readRuns", "getInstance"];
    expect(calls.filter((method) => !reads.includes(method))).toEqual([]);
  });

  test("makes no tables: it asks what is missing and says so", async () => {
    const plans: unknown[] = [];
    const { app } = await heard(async (call, apply) => {
      if (call.method !== "migrate") return apply();
      plans.push(call.args[0]);
      return { from: 0, to: 1, statements: ["CREATE TABLE"] };
    });
    await expect(app.check()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("app.migrate()"),
    });
    expect(plans).toEqual([{ plan: true }]);
  });

  test("waits for a store that is out of reach", async () => {
    const runtime = createFakeRuntime();
    const store = createFaultyStore(memory());
    const app = createWorkflows({ workflows: { ORDER: order }, store, runtime });
    await app.workflows.ORDER.create({ id: "i" });
    for (const verb of ["migrate", "listInstances", "readRuns"] as const) {
      store.fail(verb, "unavailable", { times: 2 });
    }
    let report: { readonly checked: number } | undefined;
    const checking = app.check().then((done) => {
      report = done;
    });
    await runtime.advance("1 minute");
    expect(report?.checked).toBe(1);
    await checking;
  });

  test("does not raise an alarm over an instance that ended meanwhile", async () => {
    let ended = false;
    const { app, story } = await heard(async (call, apply) => {
      if (call.method === "readRuns" && !ended) {
        ended = true;
        await story.sendEvent("i", { type: "paid" });
        await story.runUntilIdle();
      }
      return apply();
    });
    expect(await app.check()).toMatchObject({ checked: 0, ok: true, complete: true });
  });

  test("looks again at an instance that went on meanwhile", async () => {
    let restarted = false;
    const { app, story, instance } = await heard(async (call, apply) => {
      const answer = await apply();
      if (call.method === "readRuns" && !restarted) {
        restarted = true;
        await instance.restart();
        await story.runUntilIdle();
      }
      return answer;
    });
    expect((await app.check({ workflows: { ORDER: broken } })).findings).toMatchObject([
      { runNumber: 2, classification: "mismatch" },
    ]);
  });

  test("replays no more instances at the same time than it was told", async () => {
    let inside = 0;
    let most = 0;
    const busy = defineWorkflow({ name: "order" }, async (_event, step) => {
      most = Math.max(most, ++inside);
      await crypto.subtle.digest("SHA-256", new Uint8Array(16));
      inside--;
      await step.do("price", async () => 1);
    });
    const story = createTestHarness({ workflows: { ORDER: order } });
    await story.workflows.ORDER.createBatch(ids(20).map((id) => ({ id })));
    await story.app.check({ workflows: { ORDER: busy }, concurrency: 3 });
    expect(most).toBe(3);
    await story.stop();
  });

  test("is refused once its app was stopped", async () => {
    const { app } = await heard();
    await app.stop();
    await expect(app.check()).rejects.toMatchObject({ code: "APP_STOPPED" });
  });

  test("does not take the process down with what author code leaves behind", () => {
    const program = `
      import { createWorkflows, defineWorkflow, replayHistory } from "everstep";
      import { memory } from "everstep/memory";
      const careless = defineWorkflow({ name: "w" }, async (event, step) => {
        void Promise.reject(new Error("nobody awaits this"));
        setImmediate(() => { throw new Error("nobody catches this"); });
        await new Promise((resolve) => setTimeout(resolve, 20));
        await step.sleep("nap", "1 hour");
      });
      const app = createWorkflows({ workflows: { W: careless }, store: memory() });
      const instance = await app.workflows.W.create({ id: "i" });
      console.log((await app.check()).summary);
      console.log((await replayHistory(await instance.exportHistory(), careless)).classification);`;
    const flags = ["--conditions=everstep-source", "--input-type=module", "-e", program];
    const { status, stdout, stderr } = spawnSync(process.execPath, flags, { encoding: "utf8" });
    expect([status, stdout], stderr).toEqual([0, expect.stringMatching(/1 continues.*\ncontinues\n$/)]);
  });

  test("passes over the library's own instances", async () => {
    const story = createTestHarness({
      workflows: { ORDER: order },
      hooks: { onEnded: () => Promise.reject(new Error("down")) },
    });
    const instance = await story.workflows.ORDER.create({ id: "i" });
    await instance.terminate();
    await story.runUntilIdle();
    expect(await story.app.check({ workflows: {} })).toMatchObject({ checked: 0, complete: true });
    await story.stop();
  });

  test("finds that a body in flight is still asked for", async () => {
    const gate = createGate();
    const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.do("first", async () => 1);
      await step.do("second", async () => gate.wait());
    });
    const story = createTestHarness({ workflows: { SLOW: slow } });
    await story.workflows.SLOW.create({ id: "i" });
    await story.tick();
    expect(await story.app.check()).toMatchObject({ counts: { identical: 1 } });
    await story.stop();
  });

  test("says which steps only running a body could check", async () => {
    const gate = createGate();
    const nested = defineWorkflow({ name: "nested" }, async (_event, step) => {
      await step.do("outer", async () => {
        await step.do("inner", async () => 1);
        await gate.wait();
      });
    });
    const story = createTestHarness({ workflows: { NESTED: nested } });
    await story.workflows.NESTED.create({ id: "i" });
    await story.tick();
    expect((await story.app.check()).findings).toMatchObject([{ uncheckedSteps: ["outer/inner"] }]);
    await story.stop();
  });

  test.each([
    ["limit", { limit: 0 }],
    ["limit", { limit: 10_001 }],
    ["concurrency", { concurrency: 1.5 }],
    ["patience", { patience: "soon" }],
    ["workflows", { workflows: { ORDER: "order" as never } }],
    ["after", { after: "elsewhere" }],
  ])("refuses a %s that makes no sense", async (_name, options) => {
    const { app } = await heard();
    await expect(app.check(options)).rejects.toBeInstanceOf(EverstepError);
  });
});
