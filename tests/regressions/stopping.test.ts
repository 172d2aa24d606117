/** A process that stops gives back what it holds, by its deadline, whatever its bodies and its store do. */
import { createWorkflows, defineWorkflow } from "everstep";
import { createGate, storeFailure } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";
import { watchLateness } from "../support/lateness.ts";
import { onEachData } from "./each-data.ts";
import { quiet } from "./quiet.ts";

const second = 1000;

onEachStore("stopping", (tell) => {
  test("R-085 a step longer than the grace is given back at the deadline, for anybody to begin at once", async () => {
    const gate = createGate();
    const startedAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("long", { timeout: "1 day" }, async () => {
        startedAt.push(story.runtime.now());
        await gate.wait();
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.start();
    const stopping = a.stop({ grace: "10 seconds" });
    await story.clock.advance(10 * second - 1);
    expect(await story.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await stopping).toEqual({ finished: 0, released: 1 });
    expect(await recordOf(story, "i")).toMatchObject({ executing: false, dueAt: story.runtime.now() });
    expect(await story.tick()).toBe(1);
    expect(startedAt).toHaveLength(2);
    // Given back is no crash.
    expect((await recordOf(story, "i")).crashCount).toBe(0);
  });

  describe("R-086 (INV-49) stop returns by its deadline, with a report", () => {
    const hang = () => () => new Promise<never>(() => {});
    const fail = () => () => Promise.reject(storeFailure("unavailable"));
    test.each([
      ["never settles", null, 0, true],
      ["never settles and the store does not answer", hang, 15 * second, true],
      ["never settles and the store does not even close", hang, 15 * second, false],
      ["never settles and the store is gone", fail, 15 * second, true],
    ])("when a body %s", async (_title, trouble, moreMs, closes) => {
      const gate = createGate();
      const aborted: string[] = [];
      const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
        if (instanceId === "sleeper") return step.sleep("nap", "1 day");
        await step.do("first", async () => "done");
        await step.do("deaf", { timeout: "1 day" }, async ({ signal }) => {
          signal.addEventListener("abort", () => aborted.push(signal.reason.code));
          await gate.wait();
        });
      });
      const story = tell({ W: workflow });
      await story.workflows.W.createBatch([{ id: "i" }, { id: "j" }, { id: "sleeper" }]);
      const a = story.runner("a");
      await a.start();
      await story.settle();
      if (trouble) a.faults.plan(({ method }) => (closes && method === "close" ? null : trouble()));
      let report: unknown;
      void a.stop({ grace: "10 seconds" }).then((told) => {
        report = told;
      });
      await story.clock.advance(10 * second - 1);
      expect(report).toBeUndefined();
      await story.clock.advance(1 + moreMs);
      expect(report).toEqual({ finished: 0, released: 2 });
      expect(aborted).toEqual(["APP_STOPPED", "APP_STOPPED"]);
      await gate.open();
      await story.clock.advance("1 minute");
      expect(await story.steps("i")).toEqual(["first completed"]);
    });

    test("when the lease of its body was lost meanwhile", async () => {
      const gate = createGate();
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("deaf", { timeout: "1 day" }, () => gate.wait()),
      );
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      await a.start();
      a.faults.fail("renew", "unavailable", { times: 1000 });
      let report: unknown;
      void a.stop({ grace: "2 minutes" }).then((told) => {
        report = told;
      });
      await story.clock.advance("30 seconds");
      expect(await story.runner("b").tick()).toBe(1);
      await story.clock.advance("1 second");
      expect(report).toMatchObject({ released: 0 });
      await gate.open();
      expect((await story.status("i")).status).toBe("complete");
    });
  });
});

onEachData("stopping by a real clock", { durable: true }, (take) => {
  test("twice is once, also while it stops and with a body at work: no driver's error, and nothing to tell", async () => {
    const { open } = take();
    const problems: unknown[] = [];
    let starts = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("long", async () => {
        starts += 1;
        await new Promise(() => {});
      }),
    );
    const app = createWorkflows({ workflows: { W: workflow }, store: open(), ...quiet(problems) });
    await app.start();
    const instance = await app.workflows.W.create({ id: "i" });
    await expect.poll(() => starts).toBe(1);
    const waiting = instance.result().catch((error) => error.code);
    const first = app.stop({ grace: 300 });
    const during = [app.stop(), app.stop({ grace: 0 })];
    await new Promise((go) => setTimeout(go, 150));
    during.push(app.stop());
    const report = { finished: 0, released: 1 };
    expect(await first).toEqual(report);
    expect(await Promise.all(during)).toEqual([report, report, report]);
    expect(await app.stop()).toEqual({ finished: 0, released: 0 });
    expect(await waiting).toBe("APP_STOPPED");
    expect(problems).toEqual([]);
  });

  test("R-085 another process begins what was given back within two seconds", async () => {
    const { open } = take();
    const starts: { by: string; at: number }[] = [];
    const app = (by: string) => {
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("long", async () => {
          starts.push({ by, at: performance.now() });
          if (by === "a") await new Promise(() => {});
        }),
      );
      const store = open();
      // Where there are hints, polling shall not help.
      const hears = store.capabilities.nudges.has || store.changeMark !== undefined;
      const runner = hears ? { poll: "1 minute", minPoll: "1 minute", maxPoll: "1 minute" } : {};
      return createWorkflows({ workflows: { W: workflow }, store, runner, ...quiet() });
    };
    const [a, b] = [app("a"), app("b")];
    await a.start();
    const instance = await a.workflows.W.create({ id: "i" });
    while (starts.length === 0) await new Promise((go) => setTimeout(go, 5));
    await b.start();
    await new Promise((go) => setTimeout(go, 300));
    expect(await a.stop({ grace: 100 })).toEqual({ finished: 0, released: 1 });
    const stoppedAt = performance.now();
    const lateness = watchLateness();
    const { status } = await (await b.workflows.W.get(instance.id)).result({ timeout: "60 seconds" });
    // A machine that is late with everything is late with this, too.
    const allowedMs = 2000 + 10 * lateness.worstMs();
    await b.stop();
    expect(status).toBe("complete");
    expect(starts.map(({ by }) => by)).toEqual(["a", "b"]);
    expect(starts[1]!.at - stoppedAt).toBeLessThan(allowedMs);
  });
});
