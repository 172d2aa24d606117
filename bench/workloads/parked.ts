import { claimEach } from "../claims.ts";
import { idle, startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import { park } from "../park.ts";
import { withRunners } from "../processes/runner-process.ts";
import { percentile } from "../stats.ts";
import { timedEach } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { fiveSteps } from "./five-steps.ts";

const kinds = {
  claim: { what: "a claim that finds one run, p50", unit: "ms" },
  look: { what: "a claim that finds none, p50", unit: "ms" },
  create: { what: "create, p50", unit: "ms" },
  result: { what: "create to result, p50", unit: "ms" },
  listEnded: { what: "first page of a list, status complete, p50", unit: "ms" },
  listWaiting: { what: "first page of a list, status waiting, p50", unit: "ms" },
  rss: { what: "memory of an idle runner (rss)", unit: "MB" },
  heap: { what: "its heap", unit: "MB" },
} as const;

type Kind = keyof typeof kinds;

const growthMax = 1.5;
/** Enough for a page of a list, so that both stores have one to give. */
const few = 30;

/** The store with few is measured beside the full one in every round, so that a slow minute of the machine meets both. */
export const parked: Workload = {
  name: "parked",
  about:
    "claims, lists, single workflows and the memory of a runner while many instances of the same workflow sleep or wait",
  minutesMax: 90,
  roundsMax: 3,

  async measure(bench) {
    const [figures = {}] = await measureRounds(bench, 1);
    return figures;
  },

  measureAll: measureRounds,

  lines: ({ parked: counts }) => [
    ...kindsOf((kind): LineSpec[] => [
      { what: `${kinds[kind].what}, ${few} parked`, unit: kinds[kind].unit, engine: `${kind}0` },
    ]),
    ...counts.flatMap((count) =>
      kindsOf((kind): LineSpec[] => [
        {
          what: `${kinds[kind].what}, ${text(count)} parked`,
          unit: kinds[kind].unit,
          engine: `${kind}${count}`,
        },
        {
          what: `${kinds[kind].what}: growth with ${text(count)} parked`,
          unit: "",
          engine: `${kind}Growth${count}`,
          aim: { atMost: growthMax, of: "engine" },
        },
      ]),
    ),
    ...counts.map(
      (count): LineSpec => ({
        what: `instances parked, up to ${text(count)}`,
        unit: "per s",
        engine: `rate${count}`,
      }),
    ),
  ],
};

function kindsOf(lines: (kind: Kind) => readonly LineSpec[]): readonly LineSpec[] {
  return (Object.keys(kinds) as Kind[]).flatMap(lines);
}

function text(count: number): string {
  return count.toLocaleString("en");
}

async function measureRounds(bench: Bench, rounds: number): Promise<readonly Figures[]> {
  const empty = bench.freshPlace();
  const full = bench.freshPlace();
  const figures: Record<string, number>[] = Array.from({ length: rounds }, () => ({}));
  await fill(bench, empty, 0, few);
  let from = 0;
  for (const count of bench.sizes.parked) {
    const ms = await fill(bench, full, from, count);
    for (const [round, found] of figures.entries()) {
      const before = await measurePlace(bench, empty, `${count}-${round}`, `${few} parked`);
      const after = await measurePlace(bench, full, `${count}-${round}`, `${text(count)} parked`);
      found[`rate${count}`] = ((count - from) / ms) * 1000;
      for (const kind of Object.keys(kinds) as Kind[]) {
        found[`${kind}0`] ??= before[kind];
        found[`${kind}${count}`] = after[kind];
        found[`${kind}Growth${count}`] = after[kind] / before[kind];
      }
    }
    from = count;
  }
  return figures;
}

/** Gives the milliseconds it took. */
async function fill(bench: Bench, place: Place, from: number, to: number): Promise<number> {
  bench.note(`parking ${text(to - from)} instances`);
  const store = place.open();
  await store.migrate();
  const start = performance.now();
  const onProgress = (done: number): void => bench.progress(done, to);
  await park(store, { workflowName: fiveSteps.name, from, to, onProgress });
  const ms = performance.now() - start;
  await store.close();
  await place.settle();
  return ms;
}

async function measurePlace(
  bench: Bench,
  place: Place,
  prefix: string,
  how: string,
): Promise<Record<Kind, number>> {
  const { parkedRuns, warmUps } = bench.sizes;
  bench.note(how);
  const store = place.open();
  await store.migrate();
  await claimEach(store, fiveSteps.name, `${prefix}-warm`, warmUps);
  const { claims, looks } = await claimEach(store, fiveSteps.name, prefix, parkedRuns);
  await store.close();

  const engine = await startEngine(place, { fiveSteps });
  const { workflows } = engine;
  const creates: number[] = [];
  const runOne = async (id: string): Promise<void> => {
    const start = performance.now();
    const instance = await workflows.fiveSteps.create({ id });
    creates.push(performance.now() - start);
    await instance.result();
  };
  const list = async (status: "complete" | "waiting"): Promise<number> => {
    const look = (): unknown => workflows.fiveSteps.list({ status });
    await timedEach(5, look);
    return percentile(await timedEach(parkedRuns / 2, look), 0.5);
  };
  await timedEach(warmUps, (n) => runOne(`${prefix}-warm-run-${n}`));
  creates.length = 0;
  const results = await timedEach(parkedRuns, (n) => runOne(`${prefix}-run-${n}`));
  const lists = { listEnded: await list("complete"), listWaiting: await list("waiting") };
  await engine.stop();
  return {
    claim: percentile(claims, 0.5),
    look: percentile(looks, 0.5),
    create: percentile(creates, 0.5),
    result: percentile(results, 0.5),
    ...lists,
    ...(await memoryOfRunner(bench, place)),
  };
}

/** A process of its own, which has looked for work and found none. */
async function memoryOfRunner(bench: Bench, place: Place): Promise<{ rss: number; heap: number }> {
  return withRunners(1, bench.ground, place, async ([runner]) => {
    await idle(bench.sizes.idleMs / 20);
    const memory = await runner?.memory();
    return { rss: memory?.rssMb ?? Number.NaN, heap: memory?.heapMb ?? Number.NaN };
  });
}
