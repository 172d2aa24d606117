import { describe, expect, test } from "vitest";
import { StoreError } from "../model/error.ts";
import { runnerDefaults } from "../model/limits.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { nextPollMs, PollDispatcher, type TickReport } from "./poll-dispatcher.ts";

const options = { pollMs: 1000, minPollMs: 500, maxPollMs: 30_000 };
const idle: TickReport = { claimed: 0, nextDueAt: null };
const busy: TickReport = { claimed: 1, nextDueAt: null };

let lastRuntime = createFakeRuntime();

/** A dispatcher whose ticks are written down with their times, counted from its start. */
function begin(report: () => TickReport | Promise<TickReport> = () => idle, given = options) {
  const runtime = createFakeRuntime();
  lastRuntime = runtime;
  const begunAt = runtime.now();
  const ticks: number[] = [];
  const dispatcher = new PollDispatcher(runtime, given, async () => {
    ticks.push(runtime.now() - begunAt);
    return report();
  });
  return { runtime, dispatcher, ticks, at: (ms: number) => begunAt + ms };
}

/** A tick that ends when the test says so. */
function held() {
  let end!: (report: TickReport) => void;
  const promise = new Promise<TickReport>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

describe("the poll interval", () => {
  test("shrinks by 0.8 to 500 ms while there is work and grows by 1.2 to 30 s while there is none", () => {
    const intervals = (foundWork: boolean, from: number, count: number): number[] => {
      const seen: number[] = [];
      for (let ms = from; seen.length < count; seen.push(ms)) ms = nextPollMs(ms, foundWork, options);
      return seen;
    };
    expect(intervals(true, 1000, 5)).toEqual([800, 640, 512, 500, 500]);
    expect(intervals(false, 1000, 2)).toEqual([1200, 1440]);
    expect(intervals(false, 1000, 40).at(-1)).toBe(30_000);
    expect(nextPollMs(30_000, false, options)).toBe(30_000);
    expect([runnerDefaults.minPollMs, runnerDefaults.maxPollMs]).toEqual([500, 30_000]);
  });

  test("is kept by a dispatcher that hears nothing", async () => {
    const { runtime, dispatcher, ticks } = begin();
    dispatcher.start();
    await runtime.advance(1200 + 1440 + 1728);
    expect(ticks).toEqual([0, 1200, 2640, 4368]);
  });

  test("is shorter behind ticks that found something", async () => {
    const { runtime, dispatcher, ticks } = begin(() => busy);
    dispatcher.start();
    await runtime.advance(800 + 640);
    expect(ticks).toEqual([0, 800, 1440]);
  });
});

describe("a store that fails (INV-50)", () => {
  test("is asked ever less often, however many nudges there are, and at once again when it answers", async () => {
    let isAway = true;
    const { runtime, dispatcher, ticks } = begin(() => (isAway ? Promise.reject(new Error("away")) : idle));
    dispatcher.start();
    for (let second = 0; second < 60; second += 1) {
      dispatcher.nudge();
      dispatcher.dueAt(runtime.now() + 10);
      await runtime.advance(1000);
    }
    expect(ticks.length).toBeLessThan(17);
    const gaps = ticks.slice(1).map((at, n) => at - (ticks[n] as number));
    for (const [n, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(Math.min(500 * 2 ** n, 8000) - 1);
      expect(gap).toBeLessThanOrEqual(Math.min(1000 * 2 ** n, 16_000) + 1);
    }
    isAway = false;
    await runtime.advance(60_000);
    const before = ticks.length;
    dispatcher.nudge();
    await runtime.settle();
    expect(ticks.length).toBe(before + 1);
  });

  test("is spared alike by one who polls fast", async () => {
    const fast = { pollMs: 50, minPollMs: 50, maxPollMs: 250 };
    const { runtime, dispatcher, ticks } = begin(() => Promise.reject(new Error("away")), fast);
    dispatcher.start();
    await runtime.advance("1 minute");
    expect(ticks.length).toBeLessThan(17);
    const gaps = ticks.slice(1).map((at, n) => at - (ticks[n] as number));
    for (const [n, gap] of gaps.entries())
      expect(gap).toBeGreaterThanOrEqual(Math.min(500 * 2 ** n, 8000) - 1);
  });

  test("is asked at once when somebody else has heard from it", async () => {
    let isAway = true;
    const { runtime, dispatcher, ticks } = begin(() => (isAway ? Promise.reject(new Error("away")) : idle));
    dispatcher.start();
    await runtime.advance("1 minute");
    isAway = false;
    const before = ticks.length;
    dispatcher.recovered();
    await runtime.settle();
    expect(ticks.length).toBe(before + 1);
    dispatcher.recovered();
    await runtime.settle();
    expect(ticks.length).toBe(before + 1);
  });

  test("for contention alone is asked again within milliseconds", async () => {
    let failures = 2;
    const { runtime, dispatcher, ticks } = begin(() =>
      failures-- > 0 ? Promise.reject(new StoreError("conflict", "STORE_BUSY", "busy")) : idle,
    );
    dispatcher.start();
    await runtime.advance(50);
    expect(ticks).toHaveLength(3);
  });

  test("keeps in mind what was due meanwhile", async () => {
    let isAway = true;
    const { runtime, dispatcher, ticks, at } = begin(() =>
      isAway ? Promise.reject(new Error("away")) : { claimed: 0, nextDueAt: undefined },
    );
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(5000));
    isAway = false;
    await runtime.advance(1000);
    expect(ticks).toHaveLength(2);
    await runtime.advance(4000);
    expect(ticks.at(-1)).toBe(5000);
  });
});

describe("nudges", () => {
  test("make a tick at once, many of them one", async () => {
    const { runtime, dispatcher, ticks } = begin();
    dispatcher.start();
    await runtime.settle();
    for (let nudges = 0; nudges < 100; nudges++) dispatcher.nudge();
    expect(ticks).toHaveLength(1);
    await runtime.settle();
    expect(ticks).toEqual([0, 0]);
  });

  test("that come during a tick make one more behind it", async () => {
    const first = held();
    const reports = [first.promise, Promise.resolve(idle), Promise.resolve(idle)];
    const { runtime, dispatcher, ticks } = begin(() => reports[ticks.length - 1] ?? idle);
    dispatcher.start();
    await runtime.settle();
    for (let nudges = 0; nudges < 5; nudges++) dispatcher.nudge();
    await runtime.settle();
    expect(ticks).toHaveLength(1);
    first.end(idle);
    await runtime.settle();
    expect(ticks).toHaveLength(2);
  });

  test("ticks never overlap", async () => {
    let [now, most] = [0, 0];
    const { runtime, dispatcher } = begin(async () => {
      most = Math.max(most, ++now);
      await new Promise<void>((resolve) => runtime.drained(resolve));
      now--;
      return busy;
    });
    dispatcher.start();
    for (let nudges = 0; nudges < 20; nudges++) {
      dispatcher.nudge();
      await new Promise<void>((resolve) => runtime.drained(resolve));
    }
    await runtime.advance(5000);
    expect(most).toBe(1);
  });
});

describe("due times", () => {
  /** What a tick reports that leaves what is not due yet and takes what is. */
  const dueUntil = (time: number): TickReport =>
    lastRuntime.now() < time ? { ...idle, nextDueAt: time } : { ...busy, nextDueAt: null };

  test("reported by a tick are kept to the millisecond", async () => {
    const { runtime, dispatcher, ticks, at } = begin(() => dueUntil(at(300)));
    dispatcher.start();
    await runtime.advance(299);
    expect(ticks).toEqual([0]);
    await runtime.advance(1);
    expect(ticks.slice(0, 2)).toEqual([0, 300]);
  });

  test("heard of are kept too, the earliest first, and never postpone the poll", async () => {
    const { runtime, dispatcher, ticks, at } = begin();
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(700));
    dispatcher.dueAt(at(200));
    dispatcher.dueAt(at(5000));
    await runtime.advance(200);
    expect(ticks).toEqual([0, 200]);
  });

  test("in the past are nudges", async () => {
    const { runtime, dispatcher, ticks, at } = begin();
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(0));
    await runtime.settle();
    expect(ticks).toEqual([0, 0]);
  });

  test("heard of during a tick are not forgotten when it ends", async () => {
    const first = held();
    const { runtime, dispatcher, ticks, at } = begin(() => (ticks.length === 1 ? first.promise : idle));
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(250));
    first.end(idle);
    await runtime.advance(250);
    expect(ticks).toEqual([0, 250]);
  });

  test("heard of before a tick that did not look are not forgotten either", async () => {
    const { runtime, dispatcher, ticks, at } = begin(() => ({
      claimed: 1,
      nextDueAt: undefined,
    }));
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(400));
    dispatcher.nudge();
    await runtime.advance(400);
    expect(ticks).toEqual([0, 0, 400]);
  });

  test("beyond the poll interval are reached by polling", async () => {
    const { runtime, dispatcher, ticks, at } = begin(() => dueUntil(at(60_000)));
    dispatcher.start();
    await runtime.advance(60_000);
    expect(ticks.slice(0, 3)).toEqual([0, 1200, 2640]);
    expect(ticks).toContain(60_000);
  });

  test("that stay in the past make no hot loop", async () => {
    const { runtime, dispatcher, ticks, at } = begin(() => Promise.reject(new Error("out of reach")));
    dispatcher.start();
    await runtime.settle();
    dispatcher.dueAt(at(10));
    await runtime.advance(1000);
    expect(ticks.length).toBeLessThanOrEqual(3);
  });
});

describe("a dispatcher that is stopped", () => {
  test("ticks no more, whatever it hears, and leaves no timer", async () => {
    const { runtime, dispatcher, ticks, at } = begin();
    dispatcher.start();
    await runtime.settle();
    dispatcher.nudge();
    dispatcher.stop();
    dispatcher.nudge();
    dispatcher.dueAt(at(5));
    await runtime.advance(60_000);
    expect(ticks).toEqual([0]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("in the middle of a tick arms nothing when it ends", async () => {
    const first = held();
    const { runtime, dispatcher, ticks } = begin(() => first.promise);
    dispatcher.start();
    await runtime.settle();
    dispatcher.stop();
    first.end(busy);
    await runtime.advance(60_000);
    expect(ticks).toEqual([0]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("that was never started hears nothing", async () => {
    const { runtime, dispatcher, ticks, at } = begin();
    dispatcher.nudge();
    dispatcher.dueAt(at(5));
    await runtime.advance(60_000);
    expect(ticks).toEqual([]);
  });
});
