import { defineWorkflow, type InstanceHandle } from "everstep";
import { forEachOf, startEngine } from "../engine.ts";
import { type Act, beginInGroups, goOn, type Life } from "../raw/life.ts";
import { waitMs } from "../raw/rows.ts";
import { percentile } from "../stats.ts";
import { timedEach } from "../stopwatch.ts";
import type { Workload } from "../workload.ts";

/** When the author's code went on after its wait; written over by the next instance. */
let continuedAt = 0;

const waiter = defineWorkflow({ name: "waiter" }, async (_event, step) => {
  const { payload } = await step.waitForEvent<number>("go", { type: "go" });
  continuedAt = performance.now();
  return payload;
});

const waiting: Life = [
  (rows, runs, now) => rows.create(runs, "waiter", now),
  (rows, runs, now) => {
    rows.waitForEvent(runs, { index: 0, name: "go", type: "go" }, now);
    rows.suspend(runs, 1, now + waitMs, now);
  },
];

const told: readonly Act[] = [
  (rows, runs, now) => rows.sendEvent(runs, { seq: 1, type: "go", payload: "1" }, now),
  (rows, runs, now) => rows.claim(runs, now),
  (rows, runs, now) => {
    rows.consume(runs, 1, { index: 0, name: "go" }, now);
    rows.complete(runs, 1, { json: "1", marks: null }, now);
  },
];

export const events: Workload = {
  name: "events",
  about:
    "an event sent to a waiting workflow, until its code goes on and until its result; one at a time, in one process",

  async measure(bench) {
    const { events: howMany, warmUps } = bench.sizes;
    const rawPlace = bench.freshPlace();
    const raw = await rawPlace.openRaw();
    const runs = await beginInGroups(raw, waiting, howMany + warmUps, { together: 256 });
    const tellOne = (n: number): Promise<void> => goOn(raw, told, runs.slice(n, n + 1));
    await timedEach(warmUps, tellOne);
    bench.note(`raw, ${howMany} times ${told.length} transactions`);
    const rawMs = await timedEach(howMany, (n) => tellOne(n + warmUps));
    await raw.close();

    const enginePlace = bench.freshPlace();
    const engine = await startEngine(enginePlace, { waiter });
    const instances: InstanceHandle<number>[] = [];
    await forEachOf(howMany + warmUps, 256, async (n) => {
      instances[n] = await engine.workflows.waiter.create({ id: `i-${n}` });
    });
    await untilWaiting(instances);
    const continueMs: number[] = [];
    const sendOne = async (n: number): Promise<void> => {
      const sentAt = performance.now();
      await instances[n]?.sendEvent({ type: "go", payload: 1 });
      await instances[n]?.result();
      continueMs.push(continuedAt - sentAt);
    };
    await timedEach(warmUps, sendOne);
    continueMs.length = 0;
    engine.takeCounts();
    bench.note(`engine, ${howMany} events`);
    const engineMs = await timedEach(howMany, (n) => sendOne(n + warmUps));
    const counts = engine.takeCounts();
    await engine.stop();
    await bench.compareRows(enginePlace, rawPlace);

    return {
      continue50: percentile(continueMs, 0.5),
      continue99: percentile(continueMs, 0.99),
      p50: percentile(engineMs, 0.5),
      p99: percentile(engineMs, 0.99),
      rawP50: percentile(rawMs, 0.5),
      rawP99: percentile(rawMs, 0.99),
      transactions: counts.transactions / howMany,
      rawTransactions: told.length,
    };
  },

  lines: () => [
    {
      what: "event to continue, p50",
      unit: "ms",
      engine: "continue50",
      aim: { below: 2, of: "engine" },
    },
    { what: "event to continue, p99", unit: "ms", engine: "continue99" },
    { what: "event to result, p50", unit: "ms", engine: "p50", raw: "rawP50" },
    { what: "event to result, p99", unit: "ms", engine: "p99", raw: "rawP99" },
    { what: "transactions per event", unit: "", engine: "transactions", raw: "rawTransactions" },
  ],
};

async function untilWaiting(instances: readonly InstanceHandle<number>[]): Promise<void> {
  for (const instance of instances) {
    while ((await instance.status()).status !== "waiting") await new Promise((go) => setTimeout(go, 5));
  }
}
