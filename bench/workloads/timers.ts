import { defineWorkflow } from "everstep";
import { forEachOf, startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import { type Act, beginInGroups, goOnInGroups, type Life } from "../raw/life.ts";
import { nothing } from "../raw/rows.ts";
import { percentile } from "../stats.ts";
import { timed } from "../stopwatch.ts";
import type { Bench, Workload } from "../workload.ts";

const together = 256;

export const timers: Workload = {
  name: "timers",
  about: "many workflows that sleep and then run a step; how late the step begins",

  async measure(bench) {
    const rawPlace = bench.freshPlace();
    const rawMs = await measureRaw(bench, rawPlace);
    const enginePlace = bench.freshPlace();
    const late = await measureEngine(bench, enginePlace);
    await bench.compareRows(enginePlace, rawPlace);
    const spread = await measureSpread(bench, bench.freshPlace());
    return {
      p50: percentile(late, 0.5),
      p99: percentile(late, 0.99),
      max: Math.max(...late),
      spreadP50: percentile(spread, 0.5),
      spreadP99: percentile(spread, 0.99),
      rawMs,
    };
  },

  lines: ({ timers: howMany, timerMs }) => [
    {
      what: `${howMany.toLocaleString("en")} sleeps due in one second, late p50`,
      unit: "ms",
      engine: "spreadP50",
    },
    {
      what: "due in one second, late p99",
      unit: "ms",
      engine: "spreadP99",
      aim: { below: 20, of: "engine" },
    },
    {
      what: `${howMany.toLocaleString("en")} sleeps of ${timerMs} ms begun at once, late p50`,
      unit: "ms",
      engine: "p50",
    },
    { what: "begun at once, late p99", unit: "ms", engine: "p99" },
    {
      what: "late max; raw: all of them written by hand",
      unit: "ms",
      engine: "max",
      raw: "rawMs",
      ratio: false,
    },
  ],
};

const asleep: Life = [
  (rows, runs, now) => rows.create(runs, "sleeper", now),
  (rows, runs, now) => {
    rows.sleep(runs, { index: 0, name: "nap", wakeAt: now }, now);
    rows.suspend(runs, 1, now, now);
  },
];

const awake: readonly Act[] = [
  (rows, runs, now) => rows.claim(runs, now),
  (rows, runs, now) => {
    rows.settleWait(runs, 0, nothing, now);
    rows.advance(runs, 1, "after", now);
  },
  (rows, runs, now) => {
    rows.step(runs, { index: 1, name: "after", result: "true" }, now);
    rows.complete(runs, 2, nothing, now);
  },
];

/** Everything that waking up all sleepers writes: the last one cannot be sooner if all are due at once. */
async function measureRaw(bench: Bench, place: Place): Promise<number> {
  const raw = await place.openRaw();
  const runs = await beginInGroups(raw, asleep, bench.sizes.timers, { together });
  bench.note("raw, the rows of all wake-ups");
  const { ms } = await timed(() => goOnInGroups(raw, awake, runs, { together }));
  await raw.close();
  return ms;
}

async function measureEngine(bench: Bench, place: Place): Promise<number[]> {
  const { timers: howMany, timerMs, createsInFlight } = bench.sizes;
  const askedAt = new Map<string, number>();
  const late: number[] = [];
  const sleeper = defineWorkflow({ name: "sleeper" }, async ({ instanceId }, step) => {
    // A replay comes by again; only the first passage asks for the sleep.
    if (!askedAt.has(instanceId)) askedAt.set(instanceId, performance.now());
    await step.sleep("nap", timerMs);
    await step.do("after", async () => {
      late.push(performance.now() - (askedAt.get(instanceId) ?? 0) - timerMs);
      return true;
    });
  });

  const engine = await startEngine(place, { sleeper });
  bench.note(`engine, ${howMany.toLocaleString("en")} sleepers`);
  const results: Promise<unknown>[] = [];
  await forEachOf(howMany, createsInFlight, async (n) => {
    const instance = await engine.workflows.sleeper.create({ id: `i-${n}` });
    results.push(instance.result());
  });
  await Promise.all(results);
  await engine.stop();
  return late;
}

/** All asleep before the first is due, and then due one after the other, evenly over the time of one sleep. */
async function measureSpread(bench: Bench, place: Place): Promise<number[]> {
  const { timers: howMany, timerMs, createsInFlight } = bench.sizes;
  const late: number[] = [];
  let firstAt = 0;
  const sleeper = defineWorkflow({ name: "spread-sleeper" }, async ({ payload }, step) => {
    const dueAt = firstAt + (Number(payload) * timerMs) / howMany;
    await step.sleepUntil("nap", dueAt);
    await step.do("after", async () => {
      late.push(Date.now() - Math.ceil(dueAt));
      return true;
    });
  });

  const engine = await startEngine(place, { sleeper });
  bench.note(`engine, ${howMany.toLocaleString("en")} sleepers due one after the other`);
  firstAt = Date.now() + 3 * timerMs;
  const results: Promise<unknown>[] = [];
  await forEachOf(howMany, createsInFlight, async (n) => {
    const instance = await engine.workflows.sleeper.create({ id: `i-${n}`, params: n });
    results.push(instance.result());
  });
  await Promise.all(results);
  await engine.stop();
  return late;
}
