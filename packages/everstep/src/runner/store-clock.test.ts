import { expect, test } from "vitest";
import { leaseEnd } from "../model/lease.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { StoreClock } from "./store-clock.ts";

const noon = Date.UTC(2026, 0, 1, 12);
const minutes = (count: number): number => count * 60_000;

/** A host whose wall clock is off, and a store with a clock of its own that hears a question after `hearMs` and takes `askMs` to answer. */
function begin(hostOffMs: number) {
  const runtime = createFakeRuntime({ now: noon + hostOffMs });
  const server = { off: 0, hearMs: 0, askMs: 0, asked: 0 };
  const trueTime = (): number => noon + runtime.monotonic();
  const clock = new StoreClock(runtime, {
    serverTime: async () => {
      server.asked += 1;
      if (server.hearMs > 0) await new Promise<void>((resolve) => runtime.timer(resolve, server.hearMs));
      const said = trueTime() + server.off;
      if (server.askMs > 0) await new Promise<void>((resolve) => runtime.timer(resolve, server.askMs));
      return said;
    },
  });
  return { runtime, clock, server, trueTime };
}

/** It says no time that has not come, and knows how far behind it may be. */
function expectAround({ runtime }: StoreClock, trueTime: number, offMs = 0): void {
  expect(runtime.now()).toBeLessThanOrEqual(trueTime);
  expect(runtime.now()).toBeGreaterThanOrEqual(trueTime - offMs);
  expect(runtime.now() + (runtime.behindMs?.() ?? 0)).toBeGreaterThanOrEqual(trueTime);
}

test.each([-10, 0, 10])("a host whose clock is %i minutes off goes by the store's (R-048)", async (off) => {
  const { runtime, clock, trueTime } = begin(minutes(off));
  await clock.freshen();
  expect(clock.runtime.now()).toBe(trueTime());
  await runtime.advance("10 seconds");
  expectAround(clock, trueTime());
});

test("a wall clock that is set does not move it, and makes it ask again", async () => {
  const { runtime, clock, server, trueTime } = begin(0);
  await clock.freshen();
  runtime.setWallClock(noon + minutes(60));
  expect(clock.runtime.now()).toBe(trueTime());
  clock.freshen();
  await runtime.settle();
  expect(server.asked).toBe(2);
  expect(clock.freshen()).toBeNull();
});

test("after the machine slept nothing goes on with the old time", async () => {
  const { runtime, clock } = begin(0);
  await clock.freshen();
  // Asleep the monotonic clock stands still, the wall clock does not.
  runtime.setWallClock(noon + minutes(60));
  expect(clock.freshen()).not.toBeNull();
});

test("it is asked at first, and then not more than every half minute", async () => {
  const { runtime, clock, server } = begin(0);
  expect(clock.freshen()).not.toBeNull();
  await runtime.settle();
  for (let second = 0; second < 60; second += 1) {
    expect(clock.freshen()).toBeNull();
    await runtime.advance(1000);
  }
  expect(server.asked).toBe(2);
});

test("a store whose clock was set is followed", async () => {
  const { runtime, clock, server, trueTime } = begin(0);
  await clock.freshen();
  server.off = minutes(-3);
  await runtime.advance("1 minute");
  clock.freshen();
  await runtime.settle();
  expectAround(clock, trueTime() + minutes(-3));
});

test("an answer that took long does not replace a better one it agrees with", async () => {
  const { runtime, clock, server, trueTime } = begin(0);
  await clock.freshen();
  server.askMs = 4000;
  await runtime.advance("1 minute");
  clock.freshen();
  await runtime.advance("10 seconds");
  expectAround(clock, trueTime(), 40);
});

test.each(["asked", "said"] as const)(
  "however slow it was %s, it takes no time for the present that has not come, and a lease ends for nobody sooner than for its holder",
  async (slow) => {
    const { runtime, clock, server, trueTime } = begin(0);
    server[slow === "asked" ? "hearMs" : "askMs"] = 600;
    void clock.freshen();
    await runtime.advance(600);
    expectAround(clock, trueTime(), 601);
    expect(leaseEnd(clock.runtime, 2500)).toBeGreaterThanOrEqual(trueTime() + 2500);
  },
);

test("a store that cannot be asked at first is told to whoever waits; later the last reading serves", async () => {
  const runtime = createFakeRuntime({ now: noon });
  let fails = true;
  const clock = new StoreClock(runtime, {
    serverTime: async () => {
      if (fails) throw new Error("away");
      return noon + runtime.monotonic();
    },
  });
  await expect(clock.freshen()).rejects.toThrow("away");
  fails = false;
  await clock.freshen();
  fails = true;
  await runtime.advance("1 minute");
  expect(clock.freshen()).toBeNull();
  await runtime.settle();
  expectAround(clock, noon + runtime.monotonic());
});

test("without a clock of the store's the host's own rules", () => {
  const runtime = createFakeRuntime();
  const clock = new StoreClock(runtime, {});
  expect(clock.runtime).toBe(runtime);
  expect(clock.freshen()).toBeNull();
});
