/** Many sleeps that are over in the same second, none of them in memory: as after a restart, or a busy hour. */
import { defineWorkflow } from "everstep";
import { startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import { park, parkedId } from "../park.ts";
import { percentile } from "../stats.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";

/** As many become due in a millisecond, however many there are, so that a claim finds as much to do. */
const duePerMs = 10;
/** To park one, until the first storm has shown how long it takes. */
const parkMsAtFirst = 0.5;
/** For the runner to be there when the first is due. */
const startMs = 700;
const claimGrowthMax = 2;

export const storm: Workload = {
  name: "storm",
  about:
    "1,000 and 10,000 sleeps that end within the same second, 10 in each millisecond; what a claim takes",
  roundsMax: 2,

  async measure(bench) {
    const figures: Record<string, number> = {};
    const [fewest, most] = bench.sizes.storms;
    // The small one before and after the large one: a slow minute meets both.
    const before = await measureStorm(bench, fewest, parkMsAtFirst);
    const large = await measureStorm(bench, most, before.parkMs);
    const after = await measureStorm(bench, fewest, large.parkMs);
    for (const [count, storms] of [
      [fewest, [before, after]],
      [most, [large]],
    ] as const)
      for (const [name, value] of Object.entries(figuresOf(storms, count)))
        figures[`${name} of ${count}`] = value;
    for (const what of ["claim50", "claim99", "claimMax"])
      figures[`${what}Growth`] =
        (figures[`${what} of ${most}`] ?? 0) / (figures[`${what} of ${fewest}`] ?? 0);
    return figures;
  },

  lines: ({ storms }) => [
    ...storms.flatMap((count): LineSpec[] => [
      {
        what: `${text(count)} sleeps in the same second: share that woke`,
        unit: "",
        engine: `woken of ${count}`,
        aim: { exactly: 1, of: "engine" },
      },
      { what: `${text(count)}: all done after the last was due`, unit: "ms", engine: `drain of ${count}` },
      { what: `${text(count)}: late p50`, unit: "ms", engine: `late50 of ${count}` },
      { what: `${text(count)}: late p99`, unit: "ms", engine: `late99 of ${count}` },
      { what: `${text(count)}: a claim, p50`, unit: "ms", engine: `claim50 of ${count}` },
      { what: `${text(count)}: a claim, p99`, unit: "ms", engine: `claim99 of ${count}` },
      { what: `${text(count)}: the longest claim`, unit: "ms", engine: `claimMax of ${count}` },
      { what: `${text(count)}: claims`, unit: "", engine: `claims of ${count}` },
      { what: `${text(count)}: done`, unit: "per s", engine: `rate of ${count}` },
    ]),
    {
      what: `p99 of a claim, ${storms.map(text).toReversed().join(" against ")} (no spike)`,
      unit: "",
      engine: "claim99Growth",
      aim: { atMost: claimGrowthMax, of: "engine" },
    },
    { what: "p50 of a claim, the same", unit: "", engine: "claim50Growth" },
    { what: "the longest claim, the same", unit: "", engine: "claimMaxGrowth" },
  ],
};

interface Storm {
  /** Milliseconds of each sleeper, and of each claim that found some. */
  readonly late: readonly number[];
  readonly claimMs: readonly number[];
  /** From the first due, and from the last, until all are done. */
  readonly takenMs: number;
  readonly drainMs: number;
  /** What it took to park one. */
  readonly parkMs: number;
}

function figuresOf(storms: readonly Storm[], count: number): Figures {
  const late = storms.flatMap((storm) => storm.late);
  const claimMs = storms.flatMap((storm) => storm.claimMs);
  const takenMs = storms.reduce((sum, storm) => sum + storm.takenMs, 0);
  return {
    woken: late.length / (count * storms.length),
    rate: (late.length / takenMs) * 1000,
    drain: Math.max(...storms.map(({ drainMs }) => drainMs)),
    late50: percentile(late, 0.5),
    late99: percentile(late, 0.99),
    claim50: percentile(claimMs, 0.5),
    claim99: percentile(claimMs, 0.99),
    claimMax: Math.max(...claimMs),
    claims: claimMs.length / storms.length,
  };
}

async function measureStorm(bench: Bench, count: number, parkMs: number): Promise<Storm> {
  const place = bench.freshPlace();
  // Twice the time that parking should take, so that none is due before all are there.
  const spreadMs = count / duePerMs;
  const firstAt = Date.now() + startMs + 2 * parkMs * count;
  const wakeAt = (n: number): number => Math.floor(firstAt + n / duePerMs);
  const dueAt = new Map(Array.from({ length: count }, (_, n) => [parkedId(n), wakeAt(n)]));
  const late: number[] = [];
  let lastAt = 0;
  let allWoke = (): void => {};
  const drained = new Promise<void>((resolve) => {
    allWoke = resolve;
  });
  const dreamer = defineWorkflow({ name: "dreamer" }, async ({ instanceId }, step) => {
    await step.sleep("rest", "1 second");
    await step.do("after", async () => {
      lastAt = Date.now();
      late.push(lastAt - (dueAt.get(instanceId) ?? 0));
      if (late.length === count) allWoke();
      return true;
    });
  });
  const parkingMs = await parkAll(bench, place, count, wakeAt);
  if (Date.now() > firstAt) throw new Error("Parking took longer than thought; the first were due before.");
  const engine = await startEngine(place, { dreamer });
  bench.note(`engine, ${text(count)} sleeps end within a second`);
  await drained;
  const { claimMs } = engine.takeCounts();
  await engine.stop();
  return {
    late,
    claimMs,
    takenMs: lastAt - firstAt,
    drainMs: lastAt - (firstAt + spreadMs),
    parkMs: parkingMs / count,
  };
}

/** Gives the milliseconds it took. */
async function parkAll(
  bench: Bench,
  place: Place,
  to: number,
  wakeAt: (n: number) => number,
): Promise<number> {
  bench.note(`parking ${text(to)} sleepers`);
  const store = place.open();
  await store.migrate();
  const start = performance.now();
  const onProgress = (done: number): void => bench.progress(done, to);
  await park(store, { workflowName: "dreamer", from: 0, to, wakeAt, onProgress });
  const ms = performance.now() - start;
  await store.close();
  return ms;
}

function text(count: number): string {
  return count.toLocaleString("en");
}
