import { defineWorkflow, type StepView } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";
import { recordOf, wakeEarly } from "./early-wake.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Sleeps once; notes when it woke. */
function sleeper(duration: number | string, now: () => number) {
  const wokeAt: number[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
    await step.sleep("nap", duration);
    return step.do("wake", async () => {
      wokeAt.push(now());
      return "rested";
    });
  });
  return { workflow, wokeAt };
}

/** The steps as a person would list them, with the time each ends at. */
function times(steps: readonly StepView[], start: number): (string | number | null)[][] {
  return steps.map(({ name, status, wakeAt }) => [name, status, wakeAt && wakeAt.getTime() - start]);
}

onEachStore("4.3 Sleep and timers", (tell) => {
  test("57. a sleep puts the run in waiting, with its wake time written down", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.clock.now().getTime();
    const instance = await story.workflows.W.create({ id: "i" });
    expect(await story.runUntilIdle()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "waiting" });
    const details = await instance.details();
    expect(details.dueAt).toEqual(new Date(start + hour));
    expect([details.executing, details.queued]).toEqual([false, false]);
    expect(details.currentStep).toMatchObject({
      stepKey: "nap",
      type: "sleep",
      status: "waiting",
      wakeAt: new Date(start + hour),
      nextRetryAt: null,
      settledAt: null,
    });
    expect(wokeAt).toEqual([]);
  });

  test("58. a tick after the wake time completes the sleep and continues", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("90 minutes");
    expect(await story.tick()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: "rested" });
    expect(wokeAt).toEqual([start + 90 * minute]);
    const { steps } = await story.history("i");
    expect(times(steps, start)).toEqual([
      ["nap", "completed", hour],
      ["wake", "completed", null],
    ]);
    expect(steps[0]?.settledAt).toEqual(new Date(start + 90 * minute));
  });

  test.each([0, 1000])(
    "59. a wake before the time changes nothing and keeps one wake only (%d residents)",
    async (maxResidents) => {
      const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      await story.clock.advance(hour - 1);
      expect(await story.tick()).toBe(0);
      const before = (await story.history("i")).steps;
      for (let n = 0; n < 5; n++) {
        expect(await wakeEarly(story, "i")).toBe("woken");
        expect(await story.runUntilIdle()).toBe(1);
        expect(await story.status("i")).toEqual({ status: "waiting" });
        expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
      }
      expect((await story.history("i")).steps).toEqual(before);
      expect(wokeAt).toEqual([]);
      await story.clock.advance(1);
      expect(await story.runUntilIdle()).toBe(1);
      expect(wokeAt).toEqual([start + hour]);
      await story.advance("1 day");
      expect(wokeAt).toHaveLength(1);
    },
  );

  test("60. the wake of a first sleep does not skip a second one reached in the same tick", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("first", "1 hour");
      await step.sleep("second", "1 hour");
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.createBatch([{ id: "one" }, { id: "another" }]);
    await story.runUntilIdle();
    // Both sleeps would be over by the time of this tick if the second had begun with the first.
    await story.clock.advance("5 hours");
    expect(await story.tick()).toBe(2);
    for (const id of ["one", "another"]) {
      expect(times((await story.history(id)).steps, start)).toEqual([
        ["first", "completed", hour],
        ["second", "waiting", 6 * hour],
      ]);
      expect((await recordOf(story, id)).dueAt).toBe(start + 6 * hour);
    }
    await story.advance(hour - 1);
    expect(await story.app.counts()).toMatchObject({ waiting: 2, complete: 0 });
    await story.advance(1);
    expect(await story.app.counts()).toMatchObject({ waiting: 0, complete: 2 });
  });

  test.each([0, 1000])(
    "61. parallel sleeps of a minute and an hour: at a minute only the first is over (%d residents)",
    async (maxResidents) => {
      const after: string[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const nap = async (name: string, duration: string) => {
          await step.sleep(name, duration);
          await step.do(`after ${name}`, async () => void after.push(name));
        };
        // The longer one is registered first: order of asking must not matter.
        await Promise.all([nap("long", "1 hour"), nap("short", "1 minute")]);
      });
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      await story.advance(minute - 1);
      expect(after).toEqual([]);
      expect((await recordOf(story, "i")).dueAt).toBe(start + minute);
      await story.advance(1);
      expect(after).toEqual(["short"]);
      expect(await story.steps("i")).toEqual(["long waiting", "short completed", "after short completed"]);
      expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
      await story.advance(59 * minute - 1);
      expect(after).toEqual(["short"]);
      await story.advance(1);
      expect(after).toEqual(["short", "long"]);
      expect((await story.status("i")).status).toBe("complete");
    },
  );

  test("62. a sleep that is due beside an event wait with a later deadline does not time the wait out", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const [, received] = await Promise.all([
        step.sleep("nap", "1 minute"),
        step.waitForEvent<string>("answer", { type: "answer", timeout: "1 hour" }),
      ]);
      return received.payload;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(await story.steps("i")).toEqual(["nap completed", "answer waiting"]);
    expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
    await story.advance(59 * minute - 1);
    expect(await story.steps("i")).toEqual(["nap completed", "answer waiting"]);
    await story.sendEvent("i", { type: "answer", payload: "in time" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "in time" });
  });

  test("R-025 (INV-31) with parallel waits the run is due at the nearest, and then at the next nearest", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const waits = await Promise.allSettled([
        step.sleep("nap", "1 hour"),
        step.waitForEvent("answer", { type: "answer", timeout: "5 seconds" }),
        step.do("flaky", { retries: { limit: 1, delay: "1 second" } }, async ({ attempt }) => {
          if (attempt === 1) throw new Error("not yet");
        }),
      ]);
      return waits.map(({ status }) => status);
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const dueIn: number[] = [];
    for (let turns = 0; (await story.status("i")).status === "waiting" && turns < 9; turns++) {
      const { dueAt } = await recordOf(story, "i");
      dueIn.push((dueAt ?? Number.NaN) - start);
      await story.clock.advanceTo(dueAt ?? Number.NaN);
      expect(await story.runUntilIdle()).toBe(1);
    }
    expect(dueIn).toEqual([second, 5 * second, hour]);
    expect(await story.status("i")).toEqual({
      status: "complete",
      output: ["fulfilled", "rejected", "fulfilled"],
    });
  });

  test("63. sleepUntil in the past does not wait", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      await step.sleepUntil("long ago", new Date(0));
      await step.sleepUntil("a moment ago", event.timestamp.getTime() - 1);
      await step.sleepUntil("now", event.timestamp);
      return "no time passed";
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    expect(await story.runUntilIdle()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: "no time passed" });
    expect(story.runtime.now()).toBe(start);
    expect(await story.steps("i")).toEqual(["long ago completed", "a moment ago completed", "now completed"]);
  });

  test.each([
    ["a Date", (at: number) => new Date(at)],
    ["epoch milliseconds", (at: number) => at],
    ["epoch milliseconds with a fraction, rounded up", (at: number) => at - 0.5],
  ])("63. sleepUntil a time to come, given as %s", async (_title, timeOf) => {
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      await step.sleepUntil("later", timeOf(event.timestamp.getTime() + hour));
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance(hour - 1);
    expect(times((await story.history("i")).steps, start)).toEqual([["later", "waiting", hour]]);
    await story.advance(1);
    expect((await story.status("i")).status).toBe("complete");
  });

  test("63. sleepUntil something that is no time is refused", async () => {
    const refused = [new Date(Number.NaN), Number.NaN, Number.POSITIVE_INFINITY, "2027-01-01", null];
    const workflow = defineWorkflow<{ when: Date }>({ name: "w" }, async (event, step) => {
      await step.sleepUntil("never", event.payload.when);
    });
    const story = tell({ W: workflow });
    for (const [n, when] of refused.entries()) {
      await story.workflows.W.create({ id: `${n}`, params: { when: when as Date } });
    }
    await story.runUntilIdle();
    for (const n of refused.keys()) {
      expect(await story.status(`${n}`)).toMatchObject({
        status: "errored",
        error: { code: "INVALID_DURATION" },
      });
      expect(await story.steps(`${n}`)).toEqual([]);
    }
  });

  test("64. a sleep resumed by another process waits only the rest, ten crashes or not (R-049, INV-29)", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    for (let n = 0; n < 10; n++) {
      await story.advance("5 minutes");
      await story.restartRunner();
      await wakeEarly(story, "i");
      await story.runUntilIdle();
      expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
    }
    await story.advance(10 * minute - 1);
    expect(wokeAt).toEqual([]);
    await story.advance(1);
    expect(wokeAt).toEqual([start + hour]);
  });

  test("65. numbers, text, all units, singular, plural and short: each lasts what it says", async () => {
    const durations: (readonly [number | string, number])[] = [
      [0, 0],
      [1, 1],
      [1500, 1500],
      [999.5, 1000],
      ["250 ms", 250],
      ["1 millisecond", 1],
      ["0.5 seconds", 500],
      ["1 second", second],
      ["30s", 30 * second],
      ["1 minute", minute],
      ["90 minutes", 90 * minute],
      ["15m", 15 * minute],
      ["1 hour", hour],
      ["1.5 hours", 90 * minute],
      ["2h", 2 * hour],
      ["1 day", day],
      ["7 days", 7 * day],
      ["3d", 3 * day],
      ["1 week", 7 * day],
      ["2w", 14 * day],
      ["1 month", 30 * day],
      ["2 months", 60 * day],
      ["1 year", 365 * day],
    ];
    const lasted = new Map<unknown, number>();
    const workflow = defineWorkflow<{ duration: number | string }>({ name: "w" }, async (event, step) => {
      const { duration } = event.payload;
      await step.sleep("nap", duration);
      await step.do("wake", async () => {
        lasted.set(duration, story.runtime.now() - event.timestamp.getTime());
      });
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    for (const [duration] of durations) await story.workflows.W.create({ params: { duration } });
    await story.advance("1 year");
    expect(lasted).toEqual(new Map(durations));
  });

  test("65. what is no duration is refused before anything is written (R-054, INV-30)", async () => {
    const refused = [
      "10 parsecs",
      "an hour",
      "",
      " ",
      "-5 seconds",
      "1 hour 30 minutes",
      "1e3 seconds",
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1e20,
      10n,
      null,
      undefined,
      {},
    ];
    const workflow = defineWorkflow<{ duration: string }>({ name: "w" }, async (event, step) => {
      await step.sleep("nap", event.payload.duration);
    });
    const story = tell({ W: workflow });
    for (const [n, duration] of refused.entries()) {
      await story.workflows.W.create({ id: `${n}`, params: { duration: duration as string } });
    }
    await story.runUntilIdle();
    for (const [n, duration] of refused.entries()) {
      expect(await story.status(`${n}`), String(duration)).toMatchObject({
        status: "errored",
        error: { code: "INVALID_DURATION", message: expect.stringContaining('"nap"') },
      });
      expect(await story.steps(`${n}`)).toEqual([]);
    }
  });

  test("65. a refused duration can be caught, and the run goes on", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const refused = await step.sleep("nap", "soon").catch((error: { code: string }) => error.code);
      return step.do("after", async () => refused);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "INVALID_DURATION" });
    expect(await story.steps("i")).toEqual(["after completed"]);
  });

  test.each([
    ["sleep", (over: number) => 365 * day + over],
    ["sleepUntil", (over: number, now: number) => new Date(now + 365 * day + over)],
  ] as const)("66. %s above 365 days is refused, exactly 365 is accepted", async (method, when) => {
    const workflow = defineWorkflow<{ over: number }>({ name: "w" }, async (event, step) => {
      const time = when(event.payload.over, event.timestamp.getTime());
      await (step[method] as (name: string, when: unknown) => Promise<void>)("year", time);
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "exact", params: { over: 0 } });
    await story.workflows.W.create({ id: "above", params: { over: 1 } });
    await story.runUntilIdle();
    expect(await story.status("above")).toMatchObject({
      status: "errored",
      error: { code: "INVALID_DURATION", message: expect.stringContaining("365 days") },
    });
    expect((await recordOf(story, "exact")).dueAt).toBe(start + 365 * day);
    await story.advance(365 * day - 1);
    expect((await story.status("exact")).status).toBe("waiting");
    await story.advance(1);
    expect((await story.status("exact")).status).toBe("complete");
  });

  test.each(["24.9 days", "25 days", "49.8 days", "60 days"])(
    "66. a sleep of %s does not fire early in a runner that lives through it (R-047, INV-30)",
    async (duration) => {
      const { workflow, wokeAt } = sleeper(duration, () => story.runtime.now());
      // One poll a day: the other polls of two months would find nothing anyway.
      const poll = { poll: "1 day", minPoll: "1 day", maxPoll: "1 day" };
      const story = tell({ W: workflow }, { autoRun: true, runner: poll });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      await story.settle();
      const wakesAt = (await recordOf(story, "i")).dueAt ?? Number.NaN;
      expect((wakesAt - start) / day).toBeCloseTo(Number.parseFloat(duration), 9);
      await story.advanceTo(wakesAt - 1);
      expect(wokeAt).toEqual([]);
      await story.advanceTo(wakesAt);
      expect(wokeAt).toEqual([wakesAt]);
    },
  );

  test("67. skipSleep finishes the sleep the run is in, and only that one", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("first", "1 hour");
      await step.sleep("second", "1 hour");
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("10 minutes");
    // Twice, before anybody looked: the second one must not reach over to the next sleep.
    await instance.skipSleep();
    await instance.skipSleep();
    expect(await story.runUntilIdle()).toBe(1);
    const { steps, events } = await story.history("i");
    expect(times(steps, start)).toEqual([
      ["first", "completed", hour],
      ["second", "waiting", 70 * minute],
    ]);
    expect(steps[0]?.settledAt).toEqual(new Date(start + 10 * minute));
    expect(events).toEqual([]);
    await story.restartRunner();
    await story.advance(hour - 1);
    expect(await story.steps("i")).toEqual(["first completed", "second waiting"]);
    await instance.skipSleep();
    await story.runUntilIdle();
    expect((await story.status("i")).status).toBe("complete");
  });

  test("67. of parallel sleeps skipSleep finishes the nearest", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await Promise.all([step.sleep("long", "2 hours"), step.sleep("short", "1 hour")]);
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.skipSleep();
    await story.runUntilIdle();
    expect(await story.steps("i")).toEqual(["long waiting", "short completed"]);
    expect((await recordOf(story, "i")).dueAt).toBe(start + 2 * hour);
  });

  test("67. skipSleep reaches a sleep in a turn that a body holds open", async () => {
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const order: string[] = [];
      await Promise.all([
        step.do("slow", { timeout: "1 day" }, () => gate.wait()).then(() => order.push("slow")),
        step.sleep("nap", "1 hour").then(() => order.push("nap")),
      ]);
      return order;
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.tick();
    expect(await story.steps("i")).toEqual(["nap waiting"]);
    await instance.skipSleep();
    await story.settle();
    expect(await story.steps("i")).toEqual(["nap completed"]);
    await gate.open();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["nap", "slow"] });
  });

  test("67. skipSleep on a run that is not sleeping is a no-op", async () => {
    const waiter = defineWorkflow({ name: "waiter" }, async (_event, step) => {
      await step.waitForEvent("answer", { type: "answer", timeout: "1 hour" });
    });
    const retrier = defineWorkflow({ name: "retrier" }, async (_event, step) => {
      await step.do("flaky", { retries: { limit: 1, delay: "1 hour" } }, async () => {
        throw new Error("no");
      });
    });
    const done = defineWorkflow({ name: "done" }, async () => "done");
    const story = tell({ WAITER: waiter, RETRIER: retrier, DONE: done });
    const instances = [
      await story.workflows.WAITER.create({ id: "waiting" }),
      await story.workflows.RETRIER.create({ id: "retrying" }),
      await story.workflows.DONE.create({ id: "done" }),
      await story.workflows.DONE.create({ id: "not-begun", startAt: story.runtime.now() + hour }),
    ];
    await story.runUntilIdle();
    const look = () => Promise.all(instances.map((instance) => instance.details()));
    const before = await look();
    for (const instance of instances) await instance.skipSleep();
    expect(await story.runUntilIdle()).toBe(0);
    expect(await look()).toEqual(before);
    expect(before.map(({ status }) => status)).toEqual(["waiting", "waiting", "complete", "active"]);
  });

  test("68. time passes while paused: resumed after the deadline, the run continues at once", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.advance("30 minutes");
    await instance.pause();
    await story.advance("2 hours");
    expect(await story.status("i")).toEqual({ status: "paused" });
    expect(await story.steps("i")).toEqual(["nap waiting"]);
    await instance.resume();
    expect(await story.status("i")).toEqual({ status: "active" });
    expect(await story.runUntilIdle()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: "rested" });
    expect(wokeAt).toEqual([start + 150 * minute]);
  });

  test("68. resumed before the deadline, the run waits only the rest", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.pause();
    await story.advance("30 minutes");
    await instance.resume();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "waiting" });
    expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
    await story.advance("1 day");
    expect(wokeAt).toEqual([start + hour]);
  });

  test("69. terminate during a sleep is immediate", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.advance("10 minutes");
    await instance.terminate();
    const details = await instance.details();
    expect([details.status, details.dueAt, details.completedAt]).toEqual([
      "terminated",
      null,
      new Date(start + 10 * minute),
    ]);
    expect(await story.app.store.nextDueAt(["w"])).toBeNull();
    await story.advance("1 day");
    expect(await story.status("i")).toEqual({ status: "terminated" });
    expect(wokeAt).toEqual([]);
  });

  test("70. a sleeping run continues after the runner was rebuilt, without anybody touching it", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow }, { autoRun: true });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance("20 minutes");
    await story.restartRunner();
    await story.advance("20 minutes");
    await story.restartRunner();
    await story.advance(20 * minute - 1);
    expect(wokeAt).toEqual([]);
    await story.advance(1);
    expect(wokeAt).toEqual([start + hour]);
    expect(await story.status("i")).toEqual({ status: "complete", output: "rested" });
  });

  test("71. a tick takes at most its limit and the rest comes next, nobody twice", async () => {
    const gate = createGate();
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
      await step.sleep("nap", "1 hour");
      await step.do("work", async () => {
        begun.push(instanceId);
        await gate.wait();
      });
    });
    const story = tell({ W: workflow });
    const ids = ["a", "b", "c", "d", "e"];
    await story.workflows.W.createBatch(ids.map((id) => ({ id })));
    await story.runUntilIdle();
    await story.clock.advance("1 hour");
    expect(await story.tick({ maxInstances: 2 })).toBe(2);
    expect(begun).toHaveLength(2);
    expect(await story.runner("other").tick({ maxInstances: 2 })).toBe(2);
    expect(begun).toHaveLength(4);
    expect(await story.tick({ maxInstances: 2 })).toBe(1);
    expect(begun.toSorted()).toEqual(ids);
    // All are held now; while nothing runs out nobody gets any of them.
    await story.clock.advance("5 minutes");
    expect(await story.tick()).toBe(0);
    expect(await story.runner("third").tick()).toBe(0);
    await gate.open();
    expect(begun).toHaveLength(5);
    expect(await story.app.counts()).toMatchObject({ complete: 5 });
  });

  test("72. a crash between the selection of due work and its execution does not lose the wake", async () => {
    const { workflow, wokeAt } = sleeper("1 hour", () => story.runtime.now());
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("1 hour");
    const doomed = story.runner("doomed");
    const stop = doomed.stopAfter("claim");
    await doomed.tick();
    expect(stop.isReached).toBe(true);
    doomed.kill();
    expect(await story.steps("i")).toEqual(["nap waiting"]);
    await story.clock.advance(30 * second - 1);
    expect(await story.tick()).toBe(0);
    await story.clock.advance(1);
    expect(await story.tick()).toBe(1);
    expect(wokeAt).toEqual([start + hour + 30 * second]);
    expect(await story.status("i")).toEqual({ status: "complete", output: "rested" });
  });
});
