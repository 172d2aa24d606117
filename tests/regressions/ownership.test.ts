/** Who owns a run, and what becomes of what others still hold of it (R-004 to R-017; more in scenarios/6-leases). */
import { defineWorkflow } from "everstep";
import type { ClaimRequest, StoreRequest } from "everstep/store";
import { createGate, type StoreCall } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { type Backstage, newToken, recordOf } from "../scenarios/early-wake.ts";

const second = 1000;
const leaseMs = 30 * second;

function heldBody() {
  const gate = createGate();
  const started: number[] = [];
  const aborted: number[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
    step.do("work", { timeout: "1 day" }, async ({ attempt, signal }) => {
      started.push(attempt);
      signal.addEventListener("abort", () => aborted.push(attempt));
      await gate.wait();
      return `of start ${attempt}`;
    }),
  );
  return { workflow, gate, started, aborted };
}

const endsRun = ({ requests }: StoreCall): boolean =>
  requests.some((request) => request.kind === "commit" && request.boundary.next.kind === "complete");

function claimBy(owner: string, story: Backstage): ClaimRequest {
  const now = story.clock.now().getTime();
  const workflows = [{ name: "w", concurrency: null }];
  return {
    owner,
    token: newToken(),
    workflows,
    limit: 100,
    now,
    leaseUntil: now + leaseMs,
  };
}

onEachStore("ownership", (tell) => {
  describe("R-004 when the commit that ends a run meets a conflict", () => {
    const tellEnd = async (times: number) => {
      let calls = 0;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("work", async () => ++calls);
        await step.sleep("nap", 1);
        return "done";
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      await a.tick();
      await story.clock.advance(1);
      a.faults.fail("commit", "conflict", { times, where: endsRun });
      await a.tick();
      await story.clock.advance(100);
      return { story, a, calls: () => calls };
    };

    test("it is made again, and nobody else notices", async () => {
      const { story, calls } = await tellEnd(3);
      await story.clock.advance("1 second");
      expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
      expect(calls()).toBe(1);
    });

    test("the run stays claimable, and its status agrees with its history until the next one ends it", async () => {
      const { story, a, calls } = await tellEnd(1000);
      expect(await recordOf(story, "i")).toMatchObject({ status: "active", executing: true, output: null });
      a.kill();
      await story.clock.advance(leaseMs);
      expect(await story.status("i")).toEqual({ status: "active" });
      expect(await story.steps("i")).toEqual(["work completed", "nap waiting"]);
      expect(await story.tick()).toBe(1);
      expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
      expect(await story.steps("i")).toEqual(["work completed", "nap completed"]);
      expect(calls()).toBe(1);
    });
  });

  test("R-006 recoverers that saw the same expired leases share them out: each run is begun again once", async () => {
    const { workflow, gate, started } = heldBody();
    const story = tell({ W: workflow });
    await story.workflows.W.createBatch(Array.from({ length: 40 }, (_, n) => ({ id: `i${n}` })));
    const doomed = story.runner("doomed");
    expect(await doomed.tick()).toBe(40);
    doomed.kill();
    await gate.open();
    await story.clock.advance(leaseMs);
    const recoverers = ["a", "b", "c", "d"].map((name) => story.runner(name));
    const stops = recoverers.map((runner) => runner.stopBefore("claim"));
    const ticks = recoverers.map((runner) => runner.app.tick());
    await story.settle();
    expect(stops.map(({ isReached }) => isReached)).toEqual([true, true, true, true]);
    await Promise.all(stops.map((stop) => stop.continue()));
    await story.settle();
    const processed = (await Promise.all(ticks)).map((tick) => tick.processed);
    expect(processed.reduce((sum, n) => sum + n)).toBe(40);
    expect(started).toHaveLength(80);
    expect(await story.app.counts()).toMatchObject({ complete: 40 });
  });

  test("R-006 whoever still believes a lease to be that of a dead process takes nothing from its new owner", async () => {
    const { workflow } = heldBody();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const { store } = story.app;
    await store.claim(claimBy("dead", story));
    const abandon: StoreRequest = { kind: "abandon", owner: "dead", fate: { kind: "expire" } };
    const now = story.runtime.now();
    expect(await store.write([abandon], now)).toEqual([{ kind: "abandoned", runs: 1 }]);
    const [claim] = await store.claim(claimBy("heir", story));
    const held = await recordOf(story, "i");
    expect(await store.write([abandon], now)).toEqual([{ kind: "abandoned", runs: 0 }]);
    expect(await recordOf(story, "i")).toEqual(held);
    expect(await store.claim(claimBy("other", story))).toEqual([]);
    expect(await store.renew([{ lease: claim!.lease, begun: [] }], now + leaseMs, now)).toMatchObject([
      { kind: "renewed" },
    ]);
  });

  describe("R-007 a runner that hears nothing of its commit", () => {
    test("meets its own write when it repeats it, and goes on", async () => {
      let calls = 0;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const first = await step.do("first", async () => ++calls);
        return [first, await step.do("second", async () => ++calls)];
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      const stop = a.stopAfter("commit", { step: "first" });
      await a.tick();
      expect(await stop.loseReply()).toBe("committed");
      await story.clock.advance("5 seconds");
      expect(await story.status("i")).toEqual({ status: "complete", output: [1, 2] });
      expect((await recordOf(story, "i")).crashCount).toBe(0);
      expect(story.problems).toEqual([]);
    });

    test("is stopped by the row of another claim when it repeats it", async () => {
      const started: string[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("first", async ({ attempt }) => void started.push(`first ${attempt}`));
        await step.do("second", async ({ attempt }) => void started.push(`second ${attempt}`));
        await step.sleep("nap", "1 hour");
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      const stop = a.stopBefore("commit", { step: "first" });
      await a.tick();
      await story.clock.advance(leaseMs);
      await story.runner("b").tick();
      const before = await recordOf(story, "i");
      await stop.fail("ambiguous");
      await story.clock.advance("5 seconds");
      expect(await recordOf(story, "i")).toEqual(before);
      expect(started.filter((start) => start.startsWith("second"))).toEqual(["second 1"]);
    });
  });

  test("R-010 a second start that a crash forced is there in the history, beside the one attempt that counts", async () => {
    const { workflow, gate } = heldBody();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    await story.clock.advance(5 * leaseMs);
    a.kill();
    await story.clock.advance(leaseMs);
    await story.tick();
    expect(await (await story.workflows.W.get("i")).details()).toMatchObject({
      currentStep: { name: "work", status: "running", starts: 2 },
    });
    await gate.open();
    expect((await story.history("i")).steps).toMatchObject([{ name: "work", starts: 2, attempts: 1 }]);
    expect(await story.status("i")).toEqual({ status: "complete", output: "of start 2" });
  });

  test("R-011 what an overtaken tick sends late is refused whole, and nothing follows from it", async () => {
    let starts = 0;
    const child = defineWorkflow({ name: "child" }, async () => "ran");
    const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
      await step.do("work", async (context) => {
        const start = ++starts;
        context.startWorkflow("child", { id: `of-start-${start}` });
        context.sendEvent({ workflow: "w", id: instanceId }, { type: "note", payload: start });
      });
      await step.sleep("nap", "1 minute");
      return (await step.waitForEvent("note", { type: "note" })).payload;
    });
    const story = tell({ W: workflow, CHILD: child });
    await story.workflows.W.create({ id: "i" });
    const first = story.runner("first");
    const stop = first.stopBefore("commit");
    const ticking = first.app.tick();
    await story.settle();
    await story.clock.advance(leaseMs);
    const second = story.runner("second");
    await second.tick();
    const due = await story.app.store.nextDueAt(["w"]);
    const before = await recordOf(story, "i");
    expect(await stop.continue()).toBe("superseded");
    expect(await ticking).toEqual({ processed: 0 });
    expect(await recordOf(story, "i")).toEqual(before);
    expect(await story.app.store.nextDueAt(["w"])).toBe(due);
    await story.advance("2 minutes", { runners: ["second"] });
    expect((await story.workflows.CHILD.list()).items.map(({ id }) => id)).toEqual(["of-start-2"]);
    expect(await story.status("i")).toEqual({ status: "complete", output: 2 });
    expect((await story.history("i")).events).toHaveLength(1);
  });

  test("R-015 renewals keep a body undisturbed for twenty leases; when they stop it is told once", async () => {
    const { workflow, aborted } = heldBody();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    await story.clock.advance(20 * leaseMs);
    expect(aborted).toEqual([]);
    a.faults.fail("renew", "unavailable", { times: 1000 });
    await story.clock.advance(leaseMs);
    expect(aborted).toEqual([1]);
    await story.clock.advance(20 * leaseMs);
    expect(aborted).toEqual([1]);
  });

  test("R-017 a killed runner's step begins in another within a second after its lease, though nobody tells it", async () => {
    const startedAt: number[] = [];
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => {
        startedAt.push(story.runtime.now());
        await gate.wait();
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    const b = story.runner("b");
    await b.start();
    await story.clock.advance("5 minutes");
    const killedAt = story.runtime.now();
    a.kill();
    await story.clock.advance(leaseMs + second);
    expect(startedAt).toHaveLength(2);
    expect(startedAt[1]! - killedAt).toBeLessThanOrEqual(leaseMs + second);
  });
});
