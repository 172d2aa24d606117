// 149 and 150 are about Durable Objects and come with that store.
import { defineWorkflow, NonRetryableError } from "everstep";
import type { ClaimRequest } from "everstep/store";
import { createGate, type HarnessRunner } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";
import { type Backstage, newToken, recordOf, wakeEarly } from "./early-wake.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const leaseMs = 30 * second;

/** A first step, then a second one that is held at the gate; notes every start of a body. */
function heldInSecond() {
  const gate = createGate();
  const started: string[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
    const a = await step.do("first", async ({ attempt }) => {
      started.push(`first ${attempt}`);
      return "a";
    });
    const b = await step.do("second", { timeout: "1 day" }, async ({ attempt }) => {
      started.push(`second ${attempt}`);
      await gate.wait();
      return `b of start ${attempt}`;
    });
    return [a, b];
  });
  return { workflow, gate, started };
}

/** Everything that is stored of an instance. */
async function everything(
  story: Backstage & {
    history(id: string): Promise<unknown>;
    logs(id: string): Promise<unknown>;
  },
  id: string,
) {
  return {
    record: await recordOf(story, id),
    history: await story.history(id),
    logs: await story.logs(id),
  };
}

function claimBy(owner: string, story: Backstage, limit = 100): ClaimRequest {
  const now = story.clock.now().getTime();
  return {
    owner,
    token: newToken(),
    workflows: [{ name: "w", concurrency: null }],
    limit,
    now,
    leaseUntil: now + leaseMs,
  };
}

/** Notes when the runner makes such calls to its store. */
function timesOf(method: string, runner: HarnessRunner<never>, now: () => number): number[] {
  const times: number[] = [];
  runner.faults.plan((call) => {
    if (call.verbs.some((verb) => verb === method)) times.push(now());
    return null;
  });
  return times;
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? 0));
}

onEachStore("4.6 Leases and distribution", (tell) => {
  test("133. a run that is held is refused to others while the lease lasts, and theirs when it has run out", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    expect(await a.tick()).toBe(1);
    expect(await recordOf(story, "i")).toMatchObject({ executing: true, dueAt: start + leaseMs });
    a.freeze();
    const b = story.runner("b");
    expect(await b.tick()).toBe(0);
    await story.clock.advance(leaseMs - 1);
    expect(await b.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await b.tick()).toBe(1);
    expect(started).toEqual(["first 1", "second 1", "second 2"]);
    await gate.open();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 2"] });
  });

  test("133. the lease is as long as the host says", async () => {
    const { workflow } = heldInSecond();
    const story = tell({ W: workflow }, { runner: { lease: "5 minutes" } });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    a.kill();
    await story.clock.advance(5 * minute - 1);
    expect(await story.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await story.tick()).toBe(1);
  });

  test("134. renewing works for the holder only, and a release by anybody else has no effect", async () => {
    const { workflow } = heldInSecond();
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    const { store } = story.app;
    const [first] = await store.claim(claimBy("a", story));
    const leaseOfA = first!.lease;
    await story.clock.advance(leaseMs);
    const [second] = await store.claim(claimBy("b", story));
    const leaseOfB = second!.lease;
    expect(leaseOfB.token).not.toBe(leaseOfA.token);
    const held = await recordOf(story, "i");
    const now = story.runtime.now();
    // What "a" had, under its own name and under that of "b": the claim counts, not the name.
    for (const lease of [leaseOfA, { ...leaseOfA, owner: "b" }, { ...leaseOfB, token: leaseOfB.token + 1 }]) {
      expect(await store.renew([{ lease, begun: [] }], now + hour, now)).toEqual([{ kind: "lost" }]);
      await store.release([lease], now);
      expect(await recordOf(story, "i")).toEqual(held);
    }
    expect(held).toMatchObject({ executing: true, dueAt: start + 2 * leaseMs });
    expect(await store.renew([{ lease: leaseOfB, begun: [] }], now + hour, now)).toEqual([
      { kind: "renewed", eventSeq: 0, paused: false },
    ]);
    expect((await recordOf(story, "i")).dueAt).toBe(now + hour);
    await store.release([leaseOfB], now);
    expect(await recordOf(story, "i")).toMatchObject({ executing: false, dueAt: now });
    // Given back is given back: it cannot be renewed into being held again.
    expect(await store.renew([{ lease: leaseOfB, begun: [] }], now + hour, now)).toEqual([{ kind: "lost" }]);
    expect(await recordOf(story, "i")).toMatchObject({ executing: false, dueAt: now });
  });

  test("135. the lease is extended while a long body runs, and another runner cannot take it (R-010)", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const [a, b] = [story.runner("a"), story.runner("b")];
    await a.tick();
    for (let n = 0; n < 30; n++) {
      await story.clock.advance("10 seconds");
      expect(await b.tick()).toBe(0);
      const { executing, dueAt } = await recordOf(story, "i");
      expect(executing).toBe(true);
      expect(dueAt).toBeGreaterThan(story.runtime.now());
    }
    await gate.open();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 1"] });
    expect(started).toEqual(["first 1", "second 1"]);
  });

  test("136. killed in the middle of a step: another runner completes it after the lease, nothing done is repeated (R-017)", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    a.kill();
    await gate.open();
    expect(await story.steps("i")).toEqual(["first completed"]);
    await story.clock.advance(leaseMs - 1);
    expect(await story.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await story.tick()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 2"] });
    // The start that was cut off is counted, but it used up no attempt.
    expect(started).toEqual(["first 1", "second 1", "second 2"]);
    const { steps } = await story.history("i");
    expect(steps.map(({ name, attempts, errors }) => [name, attempts, errors.length])).toEqual([
      ["first", 1, 0],
      ["second", 1, 0],
    ]);
    expect((await recordOf(story, "i")).crashCount).toBe(0);
  });

  test("ctx.attempt grows when the first body of a turn is cut off again and again", async () => {
    const gate = createGate();
    const seen: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", { timeout: "1 day" }, async ({ attempt }) => {
        seen.push(attempt);
        await gate.wait();
        return attempt;
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    for (const name of ["a", "b", "c"]) {
      const before = seen.length;
      // A crash is noticed by one claim, and its delay waited out before the next.
      for (let tick = 0; tick < 3 && seen.length === before; tick++) {
        await story.runner(name).tick();
        if (seen.length === before) await story.clock.advance(10 * minute);
      }
      story.runner(name).kill();
      await story.clock.advance(10 * minute);
    }
    await gate.open();
    await story.advance(10 * minute);
    expect(await story.status("i")).toEqual({ status: "complete", output: 4 });
    expect(seen).toEqual([1, 2, 3, 4]);
    expect((await story.history("i")).steps).toMatchObject([{ attempts: 1, starts: 4 }]);
  });

  test("137. a runner whose lease was taken cannot write a step or what comes next (R-003)", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.log.info("hello");
      const result = await step.do("work", async () => ++calls);
      await step.sleep("nap", "1 hour");
      return result;
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await story.clock.advance("31 seconds");
    await story.runner("fast").tick();
    const before = await everything(story, "i");
    expect(await stop.continue()).toBe("superseded");
    expect(await everything(story, "i")).toEqual(before);
    await story.advance("2 hours");
    expect(await story.status("i")).toEqual({ status: "complete", output: 2 });
    expect(await story.steps("i")).toEqual(["work completed", "nap completed"]);
    expect(story.problems).toEqual([]);
  });

  test.each([
    ["complete", false],
    ["errored", true],
  ])("137. nor that the run is %s", async (_title, fails) => {
    let turns = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const turn = ++turns;
      if (turn === 1 && fails) throw new Error("of the first turn");
      if (turn > 1) await step.sleep("nap", "1 hour");
      return `turn ${turn}`;
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await story.clock.advance("31 seconds");
    await story.runner("fast").tick();
    const before = await everything(story, "i");
    expect(before.record.status).toBe("waiting");
    expect(await stop.continue()).toBe("superseded");
    expect(await everything(story, "i")).toEqual(before);
    await story.advance("2 hours", { runners: ["fast"] });
    expect(await story.status("i")).toEqual({ status: "complete", output: "turn 2" });
  });

  test("137. nor that it consumed an event", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.waitForEvent<string>("first", { type: "note" });
      const second = await step.waitForEvent<string>("second", { type: "note" });
      return [first.payload, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "note", payload: "one" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await story.clock.advance("31 seconds");
    await story.runner("fast").tick();
    await story.sendEvent("i", { type: "note", payload: "two" });
    const before = await everything(story, "i");
    expect(await stop.continue()).toBe("superseded");
    expect(await everything(story, "i")).toEqual(before);
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
    const { events } = await story.history("i");
    expect(events.map(({ consumedByStepKey }) => consumedByStepKey)).toEqual(["first", "second"]);
  });

  test.each([
    ["R-001 returns", false],
    ["R-002 throws", true],
  ])(
    "137. %s after its event loop stood still for three leases: nothing of it is kept",
    async (_title, fails) => {
      const gate = createGate();
      const signals: AbortSignal[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("work", { retries: { limit: 3, delay: "1 minute" } }, async ({ signal }) => {
          signals.push(signal);
          if (signals.length > 1) return "of the one that took over";
          await gate.wait();
          if (fails) throw new Error("of the zombie");
          return "of the zombie";
        }),
      );
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const blocked = story.runner("blocked");
      await blocked.tick();
      blocked.freeze();
      await gate.open();
      await story.clock.advance(3 * leaseMs);
      expect(await story.runner("other").tick()).toBe(1);
      const before = await everything(story, "i");
      await blocked.thaw();
      await story.clock.advance("1 hour");
      expect(await everything(story, "i")).toEqual(before);
      expect(await story.status("i")).toEqual({ status: "complete", output: "of the one that took over" });
      const [step] = (await story.history("i")).steps;
      expect([step?.attempts, step?.errors]).toEqual([1, []]);
      expect(await blocked.tick()).toBe(0);
      expect(signals).toHaveLength(2);
    },
  );

  test("R-001 a body that is still at it when its lease is found lost is told so by its signal", async () => {
    const gate = createGate();
    const reasons: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async ({ attempt, signal }) => {
        signal.addEventListener("abort", () => reasons.push([attempt, signal.reason.code]));
        await gate.wait();
        return "done";
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const blocked = story.runner("blocked");
    await blocked.tick();
    blocked.freeze();
    await story.clock.advance(leaseMs);
    await story.runner("other").tick();
    expect(reasons).toEqual([]);
    await blocked.thaw();
    expect(reasons).toEqual([[1, "STEP_INTERRUPTED"]]);
    await gate.open();
    expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
    expect(reasons).toHaveLength(1);
  });

  test("R-005 (INV-6) a runner whose renewals do not come through stops by itself before others may claim", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.tick();
    // The store answers everything else; only the renewals hang.
    a.faults.plan((call) => (call.method === "renew" ? () => new Promise(() => {}) : null));
    await story.clock.advance(leaseMs - 1);
    await story.clock.advance(1);
    const commits = a.faults.count("commit");
    await gate.open();
    expect(a.faults.count("commit")).toBe(commits);
    expect(await story.runner("b").tick()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 2"] });
    expect(started).toEqual(["first 1", "second 1", "second 2"]);
  });

  test.each(["hang", "fail"] as const)(
    "R-005 (INV-6) when renewals %s, the bodies in flight are told at the end of the lease, not later",
    async (how) => {
      const gate = createGate();
      const abortedAt: number[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("work", async ({ signal }) => {
          signal.addEventListener("abort", () => abortedAt.push(story.runtime.now() - start));
          await gate.wait();
        }),
      );
      const story = tell({ W: workflow });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      await a.tick();
      if (how === "fail") a.faults.fail("renew", "unavailable", { times: 100 });
      else a.faults.plan((call) => (call.method === "renew" ? () => new Promise(() => {}) : null));
      await story.clock.advance(leaseMs - 1);
      expect(abortedAt).toEqual([]);
      await story.clock.advance("5 minutes");
      expect(abortedAt).toEqual([leaseMs]);
    },
  );

  test("R-012 a body that outlives its timeout and meets its own retry: only the retry's result is kept", async () => {
    const ended: string[] = [];
    const aborted: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do(
        "slow",
        { timeout: "1 second", retries: { limit: 1, delay: "1 second" } },
        async ({ attempt, signal }) => {
          signal.addEventListener("abort", () => aborted.push(story.runtime.now() - start));
          await story.clock.sleep(attempt === 1 ? 2500 : 700);
          ended.push(`${attempt} at ${story.runtime.now() - start}`);
          return `of attempt ${attempt}`;
        },
      ),
    );
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance("10 seconds");
    expect(aborted).toEqual([1000]);
    // The first one ends while the second is running.
    expect(ended).toEqual(["1 at 2500", "2 at 2700"]);
    expect(await story.status("i")).toEqual({ status: "complete", output: "of attempt 2" });
    const [step] = (await story.history("i")).steps;
    expect([step?.attempts, step?.errors.map(({ code }) => code)]).toEqual([2, ["STEP_TIMEOUT"]]);
  });

  test.each(["before", "after"] as const)(
    "R-014 a renewal that reaches the store %s the run was given back holds nobody up",
    async (place) => {
      const gate = createGate();
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("work", () => gate.wait());
        await step.sleep("nap", "1 hour");
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      await a.tick();
      // Only the renewal is held, the rest of the process goes on.
      const renewal = place === "after" ? a.faults.stopBefore("renew") : a.faults.stopAfter("renew");
      await story.clock.advance("10 seconds");
      expect(renewal.isReached).toBe(true);
      await gate.open();
      const givenBack = await recordOf(story, "i");
      const wakesAt = story.runtime.now() + hour;
      expect(givenBack).toMatchObject({ status: "waiting", executing: false, dueAt: wakesAt });
      await renewal.continue();
      await story.settle();
      expect(await recordOf(story, "i")).toEqual(givenBack);
      await story.clock.advanceTo(wakesAt);
      expect(await story.runner("b").tick()).toBe(1);
      expect((await story.status("i")).status).toBe("complete");
    },
  );

  test("R-016 a runner that is stopping keeps its leases until its bodies are done", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.start();
    await story.settle();
    const stopping = a.stop({ grace: "150 seconds" });
    for (let n = 0; n < 9; n++) {
      await story.clock.advance("10 seconds");
      expect(await story.tick()).toBe(0);
    }
    await gate.open();
    expect(await stopping).toEqual({ finished: 1, released: 0 });
    // Recorded and given back at once: nobody waits for the lease.
    expect(await story.steps("i")).toEqual(["first completed", "second completed"]);
    expect(await story.tick()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 1"] });
    expect(started).toEqual(["first 1", "second 1"]);
  });

  test("138. many ticks at once on one instance: the body runs once, one turn is counted (INV-13)", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => ++calls),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const runners = ["a", "b", "c", "d", "e"].map((name) => story.runner(name));
    const ticks = [...runners, ...runners].map((runner) => runner.app.tick());
    await story.settle();
    const processed = (await Promise.all(ticks)).map((tick) => tick.processed);
    expect(processed.reduce((sum, n) => sum + n)).toBe(1);
    expect(calls).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: 1 });
  });

  test("138. the same when it is a recovery: one execution, one crash counted (R-008, INV-13)", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const doomed = story.runner("doomed");
    await doomed.tick();
    doomed.kill();
    await story.clock.advance(leaseMs);
    const ticks = ["a", "b", "a", "b", "a"].map((name) => story.runner(name).app.tick());
    await story.settle();
    expect(started).toEqual(["first 1", "second 1", "second 2"]);
    expect((await recordOf(story, "i")).crashCount).toBe(1);
    await gate.open();
    const processed = (await Promise.all(ticks)).map((tick) => tick.processed);
    expect(processed.reduce((sum, n) => sum + n)).toBe(1);
    expect((await story.status("i")).status).toBe("complete");
  });

  test("139. wakes, retries, events and resumes come before a thousand older starts", async () => {
    const finished: string[] = [];
    const workflow = defineWorkflow<{ what: string }>(
      { name: "w" },
      async ({ payload, instanceId }, step) => {
        const { what } = payload;
        if (what === "wake" || what === "resume") await step.sleep("nap", "1 hour");
        if (what === "event") await step.waitForEvent("note", { type: "note" });
        await step.do("work", { retries: { limit: 1, delay: "1 hour" } }, async ({ attempt }) => {
          if (what === "retry" && attempt === 1) throw new Error("not yet");
          finished.push(instanceId);
        });
      },
    );
    const story = tell({ W: workflow });
    const underWay = ["wake", "resume", "event", "retry"];
    for (const what of underWay) await story.workflows.W.create({ id: what, params: { what } });
    await story.runUntilIdle();
    const paused = await story.workflows.W.get("resume");
    await paused.pause();
    for (let batch = 0; batch < 10; batch++) {
      const starts = Array.from({ length: 100 }, (_, n) => ({
        id: `start-${batch}-${n}`,
        params: { what: "start" },
      }));
      await story.workflows.W.createBatch(starts);
    }
    await story.clock.advance("1 hour");
    await paused.resume();
    await story.sendEvent("event", { type: "note" });
    expect(await story.tick({ maxInstances: 4 })).toBe(4);
    expect(finished.toSorted()).toEqual(underWay.toSorted());
    // Starts come oldest first.
    expect(await story.tick({ maxInstances: 2 })).toBe(2);
    expect(finished.slice(4)).toEqual(["start-0-0", "start-0-1"]);
    expect(await story.app.counts()).toMatchObject({ active: 998, complete: 6 });
  });

  test("140. paused and terminal instances are never claimed and keep no loop busy", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 minute");
    });
    const story = tell({ W: workflow });
    const [paused, terminated, notBegun] = await story.workflows.W.createBatch([
      { id: "paused" },
      { id: "terminated" },
      { id: "paused-before-it-began" },
    ]);
    await notBegun!.pause();
    await story.runUntilIdle();
    await paused!.pause();
    await terminated!.terminate();
    const loop = story.runner("loop");
    const claims = timesOf("claim", loop as HarnessRunner<never>, () => story.runtime.now());
    await loop.start();
    const [polls, writes] = [loop.faults.count("claim"), loop.faults.count("write")];
    await story.clock.advance("10 minutes");
    expect(await story.steps("paused")).toEqual(["nap waiting"]);
    expect((await story.workflows.W.list()).items.map(({ status }) => status)).toEqual([
      "paused",
      "terminated",
      "paused",
    ]);
    // The poll grows from a second to half a minute, as if there were nothing at all.
    expect(loop.faults.count("claim") - polls).toBeLessThan(40);
    expect(Math.min(...gaps(claims))).toBeGreaterThan(second);
    expect([loop.faults.count("write") - writes, loop.faults.count("readRuns")]).toEqual([0, 0]);
    expect(await story.app.store.nextDueAt(["w"])).toBeNull();
  });

  test("141. what may be claimed excludes leased, suspended, paused, future and ended runs", async () => {
    const gate = createGate();
    const workflow = defineWorkflow<{ what: string }>({ name: "w" }, async ({ payload }, step) => {
      if (payload.what === "errored") throw new Error("no");
      if (payload.what === "sleeping") await step.sleep("nap", "1 hour");
      if (payload.what === "waiting") await step.waitForEvent("note", { type: "note" });
      if (payload.what === "leased") await step.do("work", () => gate.wait());
    });
    const story = tell({ W: workflow });
    const kinds = ["leased", "sleeping", "waiting", "complete", "errored"];
    for (const what of kinds) await story.workflows.W.create({ id: what, params: { what } });
    await story.runner("holder").tick();
    const params = { what: "sleeping" };
    const paused = await story.workflows.W.create({ id: "paused", params });
    const terminated = await story.workflows.W.create({ id: "terminated", params });
    await paused.pause();
    await terminated.terminate();
    await story.workflows.W.create({ id: "future", params, startAt: story.runtime.now() + 1 });
    await story.workflows.W.create({ id: "due", params });
    const { store } = story.app;
    const claims = await store.claim(claimBy("test", story));
    expect(claims.map(({ instanceId }) => instanceId)).toEqual(["due"]);
    expect(await store.claim(claimBy("test", story))).toEqual([]);
    expect(await store.claim({ ...claimBy("test", story), workflows: [] })).toEqual([]);
    const other = [{ name: "unknown", concurrency: null }];
    expect(await store.claim({ ...claimBy("test", story), workflows: other })).toEqual([]);
  });

  test("142. a refused claim leaves everything as it was, and is made again later", async () => {
    const { workflow, gate } = heldInSecond();
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    const holder = story.runner("holder");
    await holder.tick();
    const before = await everything(story, "i");
    const other = story.runner("other");
    await other.start();
    for (let n = 0; n < 5; n++) expect(await other.tick()).toBe(0);
    expect(await everything(story, "i")).toEqual(before);
    expect(before.record).toMatchObject({ status: "active", executing: true, dueAt: start + leaseMs });
    holder.kill();
    await gate.open();
    // Its loop knows when the lease ends and looks again just then.
    await story.clock.advance(leaseMs - 1);
    expect((await recordOf(story, "i")).token).toBe(before.record.token);
    await story.clock.advance(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 2"] });
    expect((await recordOf(story, "i")).token).not.toBe(before.record.token);
  });

  test("143. a tick that loses the race for its commit counts nothing and leaves nothing behind", async () => {
    const { workflow, gate } = heldInSecond();
    await gate.open();
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    const ticking = slow.app.tick();
    await story.settle();
    expect(stop.isReached).toBe(true);
    await story.clock.advance(leaseMs);
    const winning = story.runner("fast").app.tick();
    await story.settle();
    expect(await winning).toEqual({ processed: 1 });
    const before = await everything(story, "i");
    expect(await stop.continue()).toBe("superseded");
    expect(await ticking).toEqual({ processed: 0 });
    expect(await everything(story, "i")).toEqual(before);
  });

  test("144. starting a second process does not run again what a living first one holds", async () => {
    const { workflow, gate, started } = heldInSecond();
    const story = tell({ W: workflow }, { autoRun: true });
    await story.workflows.W.create({ id: "i" });
    await story.settle();
    expect(started).toEqual(["first 1", "second 1"]);
    const token = (await recordOf(story, "i")).token;
    story.runner("second process");
    await story.advance("5 minutes");
    expect(started).toEqual(["first 1", "second 1"]);
    expect((await recordOf(story, "i")).token).toBe(token);
    await gate.open();
    await story.settle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["a", "b of start 1"] });
  });

  test("145. three overlapping generations of the code run each instance once (R-013)", async () => {
    const gate = createGate();
    const started: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
      await step.do("held", { timeout: "1 day" }, async () => {
        started.push(`${instanceId} held`);
        await gate.wait();
      });
      await step.do("after", async () => void started.push(`${instanceId} after`));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "old" });
    const generations = [1, 2, 3].map((n) => story.runner(`generation ${n}`));
    const reports: Promise<unknown>[] = [];
    for (const [n, generation] of generations.entries()) {
      await generation.start();
      await story.clock.advance("1 minute");
      await story.workflows.W.create({ id: `new-${n}` });
      await story.clock.advance("1 minute");
      if (n < 2) reports.push(generation.stop({ grace: "1 hour" }));
    }
    expect(started.toSorted()).toEqual(["new-0 held", "new-1 held", "new-2 held", "old held"]);
    await gate.open();
    await story.clock.advance("1 minute");
    expect(await Promise.all(reports)).toEqual([
      { finished: 2, released: 0 },
      { finished: 1, released: 0 },
    ]);
    expect(started.toSorted()).toEqual(
      ["old", "new-0", "new-1", "new-2"].flatMap((id) => [`${id} after`, `${id} held`]).toSorted(),
    );
    expect(await story.app.counts()).toMatchObject({ complete: 4 });
  });

  test("146. one failing instance does not stop the others of the same tick (R-024, INV-49)", async () => {
    const workflow = defineWorkflow<{ n: number }>({ name: "w" }, ({ payload: { n } }, step) => {
      if (n === 3) throw new Error("before the first step");
      return step.do("work", { retries: false }, async () => {
        if (n === 5) throw new NonRetryableError("in a step");
        if (n === 7) return () => "cannot be stored";
        return n;
      });
    });
    const story = tell({ W: workflow });
    const batch = Array.from({ length: 10 }, (_, n) => ({ id: `i${n}`, params: { n } }));
    await story.workflows.W.createBatch(batch);
    expect(await story.tick()).toBe(10);
    for (const { id, params } of batch) {
      const isBad = [3, 5, 7].includes(params.n);
      expect((await story.status(id)).status, id).toBe(isBad ? "errored" : "complete");
    }
    expect(story.problems).toEqual([]);
  });

  test("146. nor does one whose commit the store refuses for good (R-024)", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => void calls++),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.createBatch(Array.from({ length: 10 }, (_, n) => ({ id: `i${n}` })));
    const { runId } = await recordOf(story, "i3");
    const fault = story.runner().faults.fail("commit", "fatal", {
      times: 100,
      where: ({ requests }) => requests.some((one) => one.kind === "commit" && one.lease.runId === runId),
    });
    expect(await story.tick()).toBe(10);
    expect(await story.app.counts()).toMatchObject({ complete: 9, active: 1 });
    expect(await story.steps("i3")).toEqual([]);
    expect(story.problems).toMatchObject([{ name: "StoreError", failure: "fatal" }]);
    fault.remove();
    await story.advance("31 seconds");
    expect(await story.app.counts()).toMatchObject({ complete: 10, active: 0 });
    expect(calls).toBe(11);
  });

  test("R-024 when the histories of a batch cannot be read, all of it is given back at once", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 hour");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.createBatch(Array.from({ length: 10 }, (_, n) => ({ id: `i${n}` })));
    await story.runUntilIdle();
    await story.clock.advance("1 hour");
    story.runner().faults.fail("readRuns", "unavailable");
    await expect(story.tick()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await story.runner("other").tick()).toBe(10);
    expect(await story.app.counts()).toMatchObject({ complete: 10 });
  });

  test("147. duplicate creates, ticks, wakes and events are harmless", async () => {
    const started: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("first", async () => void started.push("first"));
      await step.waitForEvent("note", { type: "note" });
      await step.do("second", async () => void started.push("second"));
    });
    const story = tell({ W: workflow }, { autoRun: true });
    const others = [story.runner("b"), story.runner("c")];
    const again = { id: "i", ifExists: "return" } as const;
    await Promise.all(Array.from({ length: 5 }, () => story.workflows.W.create(again)));
    for (let n = 0; n < 5; n++) await Promise.all(others.map((runner) => runner.tick()));
    const stale = await recordOf(story, "i");
    const note = { idempotencyKey: "e-1", type: "note" };
    await Promise.all(Array.from({ length: 5 }, () => story.sendEvent("i", note)));
    await Promise.all(others.map((runner) => runner.tick()));
    await story.settle();
    const wake = { kind: "wake", runId: stale.runId, token: stale.token } as const;
    expect(await story.app.store.write([wake, wake], story.runtime.now())).toEqual([
      { kind: "ignored" },
      { kind: "ignored" },
    ]);
    await story.advance("1 minute");
    expect(started).toEqual(["first", "second"]);
    expect((await story.status("i")).status).toBe("complete");
    expect(await wakeEarly(story, "i")).toBe("ignored");
  });

  test("148. fifty stuck runs are recovered at once; completed, waiting, paused and queued ones are untouched", async () => {
    const gate = createGate();
    const started: string[] = [];
    const workflow = defineWorkflow<{ what: string }>(
      { name: "w" },
      async ({ payload, instanceId }, step) => {
        if (payload.what === "waiting") await step.sleep("nap", "1 hour");
        await step.do("work", async () => {
          started.push(instanceId);
          if (payload.what === "stuck") await gate.wait();
        });
      },
    );
    const story = tell({ W: workflow });
    const several = (what: string, count: number, more: object = {}) =>
      story.workflows.W.createBatch(
        Array.from({ length: count }, (_, n) => ({ id: `${what}-${n}`, params: { what }, ...more })),
      );
    const others = [
      ...(await several("complete", 5)),
      ...(await several("waiting", 5)),
      ...(await several("queued", 5, { startAt: story.runtime.now() + hour })),
    ];
    await story.runUntilIdle();
    const paused = await several("paused", 5);
    for (const instance of paused) await instance.pause();
    others.push(...paused);
    await several("stuck", 50);
    const doomed = story.runner("doomed");
    expect(await doomed.tick()).toBe(50);
    doomed.kill();
    await gate.open();
    const look = () => Promise.all(others.map((instance) => instance.details()));
    const before = await look();
    await story.clock.advance(leaseMs - 1);
    expect(await story.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await story.tick()).toBe(50);
    expect(await look()).toEqual(before);
    const stuck = started.filter((id) => id.startsWith("stuck"));
    expect([stuck.length, new Set(stuck).size]).toEqual([100, 50]);
    expect(started.filter((id) => id.startsWith("complete"))).toHaveLength(5);
    expect(await story.app.counts()).toEqual({
      active: 5,
      waiting: 5,
      paused: 5,
      complete: 55,
      errored: 0,
      terminated: 0,
    });
  });

  test("151. nudges during a tick make one tick more, and nobody who nudges waits for it", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => "done"),
    );
    const story = tell({ W: workflow });
    const loop = story.runner("loop");
    const claim = loop.faults.stopBefore("claim");
    // Not awaited by the test's own clock: the claim hangs, and the loop with it.
    await loop.start();
    expect(claim.isReached).toBe(true);
    for (let n = 0; n < 20; n++) await loop.workflows.W.create({ id: `i${n}` });
    expect(await story.app.counts()).toMatchObject({ active: 20 });
    expect(loop.faults.count("claim")).toBe(1);
    await claim.continue();
    await story.settle();
    expect(await story.app.counts()).toMatchObject({ complete: 20 });
    expect(loop.faults.count("claim")).toBe(2);
  });

  test("151. a poll that finds nothing due does nothing else", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 day");
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const loop = story.runner("loop");
    await loop.start();
    await story.clock.advance("10 minutes");
    const counts = (["write", "readRuns", "renew", "release"] as const).map((verb) =>
      loop.faults.count(verb),
    );
    expect(counts).toEqual([0, 0, 0, 0]);
    expect(loop.faults.count("claim")).toBe(loop.faults.count("nextDueAt"));
    expect(loop.faults.count("claim")).toBeGreaterThan(20);
  });

  test("152. work nobody told a runner of is picked up within the longest poll interval (LIV-1, LIV-4)", async () => {
    const doneAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("work", async () => void doneAt.push(story.runtime.now()));
    });
    const story = tell({ W: workflow });
    const loop = story.runner("loop");
    await loop.start();
    await story.clock.advance("10 minutes");
    for (let n = 0; n < 5; n++) {
      // Another process creates it: nothing in the loop's process hears of it.
      await story.workflows.W.create({ id: `i${n}` });
      const createdAt = story.runtime.now();
      await story.clock.advance("30 seconds");
      expect(doneAt).toHaveLength(n + 1);
      expect(doneAt[n]! - createdAt).toBeLessThanOrEqual(30 * second);
      await story.clock.advance("7 minutes");
    }
  });

  test("152. a wake time that only another process knows is met, too", async () => {
    const doneAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "90 seconds");
      await step.do("work", async () => void doneAt.push(story.runtime.now() - start));
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const loop = story.runner("loop");
    await loop.start();
    await story.workflows.W.create({ id: "i" });
    await story.tick();
    story.runner().kill();
    await story.clock.advance("2 minutes");
    // It saw the due time at one of its polls, so it is not even late.
    expect(doneAt).toEqual([90 * second]);
  });

  test("153. the poll interval grows by 1.2 up to 30 seconds while there is nothing to do", async () => {
    const workflow = defineWorkflow({ name: "w" }, async () => "done");
    const story = tell({ W: workflow });
    const loop = story.runner("loop");
    const times = timesOf("claim", loop as HarnessRunner<never>, () => story.runtime.now());
    await loop.start();
    await story.clock.advance("5 minutes");
    const expected = Array.from({ length: gaps(times).length }, (_, n) =>
      Math.ceil(Math.min(30_000, 1000 * 1.2 ** (n + 1))),
    );
    expect(gaps(times).map((gap, n) => Math.abs(gap - expected[n]!) <= 1)).toEqual(expected.map(() => true));
    expect(gaps(times).slice(0, 3)).toEqual([1200, 1440, 1728]);
    expect(gaps(times).at(-1)).toBe(30_000);
  });

  test("153. it shrinks by 0.8 down to 500 ms while there is work", async () => {
    const workflow = defineWorkflow({ name: "w" }, async () => "done");
    const story = tell({ W: workflow });
    const loop = story.runner("loop");
    const times: number[] = [];
    loop.faults.plan((call) => {
      if (call.method !== "claim") return null;
      return async (apply) => {
        times.push(story.runtime.now());
        // From another process, so that nothing but the poll finds it.
        await story.workflows.W.create();
        return apply();
      };
    });
    await loop.start();
    await story.clock.advance("5 seconds");
    expect(gaps(times)).toEqual([800, 640, 512, 500, 500, 500, 500, 500, 500]);
    expect(await story.app.counts()).toMatchObject({ active: 0, complete: 10 });
  });

  test("154. a store that is out of reach is tried again after 1, 2, 4, 8 and 16 seconds, half of it jitter", async () => {
    const workflow = defineWorkflow({ name: "w" }, async () => "done");
    const story = tell({ W: workflow });
    const times = timesOf("create", story.runner() as HarnessRunner<never>, () => story.runtime.now());
    story.runner().faults.fail("create", "unavailable", { times: 100 });
    const creating = story.workflows.W.create({ id: "i" }).catch((error: { code: string }) => error.code);
    await story.clock.advance("5 minutes");
    expect(await creating).toBe("STORE_UNAVAILABLE");
    expect(times).toHaveLength(6);
    for (const [n, gap] of gaps(times).entries()) {
      expect(gap).toBeGreaterThanOrEqual(500 * 2 ** n);
      expect(gap).toBeLessThanOrEqual(1000 * 2 ** n + 1);
    }
    expect((await story.workflows.W.list()).items).toEqual([]);
  });

  test.each(["unavailable", "ambiguous", "conflict"] as const)(
    "154. a failure of sort %s that passes is nobody's result: one attempt, one body",
    async (failure) => {
      let calls = 0;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("work", { retries: false }, async () => ++calls),
      );
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      story.runner().faults.fail("commit", failure, { times: 3 });
      await story.advance("1 minute");
      expect(await story.status("i")).toEqual({ status: "complete", output: 1 });
      expect((await story.history("i")).steps[0]?.attempts).toBe(1);
      expect(calls).toBe(1);
    },
  );

  test.each(["database is locked", "connection terminated unexpectedly", "SQLITE_BUSY: database is locked"])(
    "154. an author's own error that says %j is a failed attempt like any other",
    async (message) => {
      const startedAt: number[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("work", { retries: { limit: 1, delay: "1 hour" } }, async () => {
          startedAt.push(story.runtime.now() - start);
          throw new Error(message);
        }),
      );
      const story = tell({ W: workflow });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      expect((await story.history("i")).steps[0]).toMatchObject({
        status: "waiting",
        attempts: 1,
        nextRetryAt: new Date(start + hour),
      });
      await story.advance("1 day");
      expect(startedAt).toEqual([0, hour]);
      expect(await story.status("i")).toMatchObject({ status: "errored", error: { message } });
    },
  );

  test("R-029 a loop survives a store that is gone for ten minutes, and goes on by itself", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => "done"),
    );
    const story = tell({ W: workflow });
    const loop = story.runner("loop");
    await loop.start();
    const outage = loop.faults.fail("claim", "unavailable", { times: 10_000 });
    await story.workflows.W.create({ id: "i" });
    await story.clock.advance("10 minutes");
    expect(await story.status("i")).toEqual({ status: "active" });
    expect(story.problems.length).toBeGreaterThan(10);
    // It neither gave up nor hammered on the store.
    expect(story.problems.length).toBeLessThan(120);
    outage.remove();
    await story.clock.advance("30 seconds");
    expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
  });
});
