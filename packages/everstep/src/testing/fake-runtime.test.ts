import { describe, expect, test } from "vitest";
import { systemRuntime } from "../system-runtime.ts";
import { createFakeRuntime, type FakeRuntime } from "./fake-runtime.ts";

const start = Date.UTC(2026, 0, 1);

/** What happens to a runtime, with the time at which it happened. */
function diary(runtime: FakeRuntime): { note(text: string): void; readonly notes: string[] } {
  const begin = runtime.monotonic();
  const notes: string[] = [];
  return { notes, note: (text) => void notes.push(`${runtime.monotonic() - begin} ${text}`) };
}

describe("the clock", () => {
  test("stands still until it is moved", async () => {
    const runtime = createFakeRuntime();
    const before = [runtime.now(), runtime.monotonic()];
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([runtime.now(), runtime.monotonic()]).toEqual(before);
    await runtime.advance("1 hour");
    expect([runtime.now(), runtime.monotonic()]).toEqual([start + 3_600_000, 3_600_000]);
  });

  test("starts where the test says, and moves to a time as well as by a duration", async () => {
    const runtime = createFakeRuntime({ now: new Date("2030-06-01T12:00:00Z") });
    await runtime.advanceTo(new Date("2030-06-02T12:00:00Z"));
    expect(runtime.now()).toBe(Date.UTC(2030, 5, 2, 12));
    expect(runtime.monotonic()).toBe(86_400_000);
  });

  test("refuses to go back, and says how a clock is set back", async () => {
    const runtime = createFakeRuntime();
    await expect(runtime.advanceTo(start - 1)).rejects.toThrow("Use setWallClock");
    await expect(runtime.advance(-1)).rejects.toMatchObject({ code: "INVALID_DURATION" });
    expect(() => createFakeRuntime({ now: Number.NaN })).toThrow("must be a Date");
  });

  test("can be set like a wall clock: no time passes and no timer moves", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    runtime.timer(() => note("timer"), 1000);
    runtime.setWallClock(start - 3_600_000);
    expect(runtime.now()).toBe(start - 3_600_000);
    expect(runtime.monotonic()).toBe(0);
    expect(runtime.nextTimerAt()).toBe(start - 3_600_000 + 1000);
    await runtime.advance(1000);
    expect(notes).toEqual(["1000 timer"]);
  });
});

describe("timers", () => {
  test("fire in the order of their times, ties in the order of their creation", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    for (const [name, delayMs] of Object.entries({ c: 30, a: 10, b1: 20, b2: 20, b3: 20 })) {
      runtime.timer(() => note(name), delayMs);
    }
    await runtime.advance(25);
    expect(notes).toEqual(["10 a", "20 b1", "20 b2", "20 b3"]);
    await runtime.advance(25);
    expect(notes.at(-1)).toBe("30 c");
    expect(runtime.monotonic()).toBe(50);
  });

  test("keep their order in great numbers", async () => {
    const runtime = createFakeRuntime({ seed: "many" });
    const fired: number[] = [];
    const delays = Array.from({ length: 500 }, () => Math.floor(runtime.float() * 100) + 1);
    for (const delayMs of delays) runtime.timer(() => fired.push(delayMs), delayMs);
    await runtime.advance(100);
    expect(fired).toEqual(delays.toSorted((a, b) => a - b));
  });

  test("set by another timer fire on the way, at their own time", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    const again = (left: number): void => {
      note(`left ${left}`);
      if (left > 0) runtime.timer(() => again(left - 1), 10);
    };
    again(3);
    runtime.timer(() => note("other"), 15);
    await runtime.advance(1000);
    expect(notes).toEqual(["0 left 3", "10 left 2", "15 other", "20 left 1", "30 left 0"]);
  });

  test("wait until everything has settled that follows from the one before", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    runtime.timer(() => {
      void Promise.resolve()
        .then(() => new Promise<void>((resolve) => runtime.drained(resolve)))
        .then(() => new Promise<void>((resolve) => runtime.drained(resolve)))
        .then(() => note("follows"));
    }, 10);
    runtime.timer(() => note("next"), 11);
    await runtime.advance(20);
    expect(notes).toEqual(["10 follows", "11 next"]);
  });

  test("of no length fire without the clock", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    runtime.timer(() => runtime.timer(() => note("inner"), -5), 0);
    await runtime.settle();
    expect(notes).toEqual(["0 inner"]);
  });

  test("of broken milliseconds are never early, and the clock stays whole", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    runtime.timer(() => note("timer"), 10.2);
    await runtime.advance(20);
    expect(notes).toEqual(["11 timer"]);
  });

  test("that were cancelled never fire, even at the last moment", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    const first = runtime.timer(() => note("first"), 5);
    runtime.timer(() => last.cancel(), 10);
    const last = runtime.timer(() => note("last"), 10);
    first.cancel();
    expect(runtime.nextTimerAt()).toBe(start + 10);
    await runtime.advance(100);
    expect(notes).toEqual([]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("may be years long", async () => {
    const runtime = createFakeRuntime();
    const { note, notes } = diary(runtime);
    runtime.timer(() => note("timer"), 10 * 365 * 86_400_000);
    await runtime.advance("10 years");
    expect(notes).toHaveLength(1);
  });
});

describe("randomness", () => {
  const sample = (seed: number | string) => {
    const runtime = createFakeRuntime({ seed });
    return [runtime.float(), runtime.uuid(), runtime.cuid(), runtime.uuid(), runtime.cuid(), runtime.float()];
  };

  test("repeats with its seed and differs without it", () => {
    expect(sample(7)).toEqual(sample(7));
    expect(sample("night 3")).toEqual(sample("night 3"));
    expect(new Set([...sample(1), ...sample(2), ...sample("x")]).size).toBe(18);
  });

  test("has the shapes of the real one", () => {
    const runtime = createFakeRuntime({ seed: 3 });
    for (let round = 0; round < 200; round++) {
      expect(runtime.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(runtime.cuid()).toMatch(/^c[0-9a-z]{23}$/);
      const float = runtime.float();
      expect(float >= 0 && float < 1).toBe(true);
    }
  });

  test("is spread evenly enough to be called random", () => {
    const runtime = createFakeRuntime({ seed: 11 });
    const floats = Array.from({ length: 10_000 }, () => runtime.float());
    const mean = floats.reduce((sum, float) => sum + float, 0) / floats.length;
    expect(mean).toBeGreaterThan(0.48);
    expect(mean).toBeLessThan(0.52);
    expect(new Set(floats).size).toBeGreaterThan(9_990);
  });
});

describe("settling", () => {
  test("waits for long chains of promises and scheduled callbacks", async () => {
    const runtime = createFakeRuntime();
    let steps = 0;
    const chain = async (): Promise<void> => {
      for (; steps < 300; steps++) {
        await Promise.resolve();
        await new Promise<void>((resolve) => runtime.drained(resolve));
      }
    };
    void chain();
    await runtime.settle();
    expect(steps).toBe(300);
  });

  test("waits for tracked work, however it ends", async () => {
    const runtime = createFakeRuntime();
    let ended = 0;
    const work = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      ended++;
      if (ended === 2) throw new Error("badly");
    };
    void runtime.track(work(5));
    runtime.track(work(15)).catch(() => {});
    await runtime.settle();
    expect(ended).toBe(2);
  });

  test("does not see real timers, but a condition can be waited for", async () => {
    const runtime = createFakeRuntime();
    let done = false;
    setTimeout(() => {
      done = true;
    }, 20);
    await runtime.settle();
    expect(done).toBe(false);
    await runtime.waitUntil(() => done);
    expect(done).toBe(true);
  });

  test("gives up a condition that does not come true", async () => {
    const runtime = createFakeRuntime();
    await expect(runtime.waitUntil(() => false, { timeout: 10 })).rejects.toThrow("within 10 ms");
  });

  test("goes on in real time while somebody says they are busy", async () => {
    const giveUpAt = systemRuntime.monotonic() + 20;
    const runtime = createFakeRuntime({ isBusy: () => systemRuntime.monotonic() < giveUpAt });
    await runtime.settle();
    expect(systemRuntime.monotonic()).toBeGreaterThanOrEqual(giveUpAt);
  });

  test("says so when a system never comes to rest", async () => {
    const runtime = createFakeRuntime();
    let isOver = false;
    const again = (): void => {
      if (!isOver) runtime.timer(again, 0);
    };
    again();
    await expect(runtime.settle()).rejects.toThrow("does not come to rest");
    isOver = true;
  });
});
