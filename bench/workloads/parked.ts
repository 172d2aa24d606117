import type { CommitRequest, Lease, Store } from "everstep/store";
import { startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import { park } from "../park.ts";
import { percentile } from "../stats.ts";
import { timedEach } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { fiveSteps } from "./five-steps.ts";

const kinds = {
  claim: "a claim that finds one run",
  look: "a claim that finds none",
  result: "create to result",
} as const;

type Kind = keyof typeof kinds;

const growthMax = 1.5;

/** The empty store is measured beside the full one in every round, so that a slow minute of the machine meets both. */
export const parked: Workload = {
  name: "parked",
  about: "claims and single workflows while many instances of the same workflow sleep or wait",
  minutesMax: 90,

  async measure(bench) {
    const [figures = {}] = await measureRounds(bench, 1);
    return figures;
  },

  measureAll: measureRounds,

  lines: ({ parked: counts }) => [
    ...kindsOf((kind): LineSpec[] => [
      { what: `${kinds[kind]}, p50, nothing parked`, unit: "ms", engine: `${kind}0` },
    ]),
    ...counts.flatMap((count) =>
      kindsOf((kind): LineSpec[] => [
        { what: `${kinds[kind]}, p50, ${text(count)} parked`, unit: "ms", engine: `${kind}${count}` },
        {
          what: `${kinds[kind]}: growth with ${text(count)} parked`,
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
  let from = 0;
  for (const count of bench.sizes.parked) {
    const ms = await fill(bench, full, from, count);
    for (const [round, found] of figures.entries()) {
      const before = await measurePlace(bench, empty, `${count}-${round}`, "nothing parked");
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
  await claimEach(store, `${prefix}-warm`, warmUps);
  const { claims, looks } = await claimEach(store, prefix, parkedRuns);
  await store.close();

  const engine = await startEngine(place, { fiveSteps });
  const runOne = async (id: string): Promise<void> => {
    const instance = await engine.workflows.fiveSteps.create({ id });
    await instance.result();
  };
  await timedEach(warmUps, (n) => runOne(`${prefix}-warm-run-${n}`));
  const results = await timedEach(parkedRuns, (n) => runOne(`${prefix}-run-${n}`));
  await engine.stop();
  return { claim: percentile(claims, 0.5), look: percentile(looks, 0.5), result: percentile(results, 0.5) };
}

/** Each time one run is due, then none. */
async function claimEach(
  store: Store,
  prefix: string,
  times: number,
): Promise<{ readonly claims: readonly number[]; readonly looks: readonly number[] }> {
  const claims: number[] = [];
  const looks: number[] = [];
  for (let n = 0; n < times; n++) {
    await createDue(store, `${prefix}-${n}`);
    const [ms, found] = await claimOnce(store);
    claims.push(ms);
    for (const lease of found) await store.write([complete(lease)], Date.now());
    const [lookMs] = await claimOnce(store);
    looks.push(lookMs);
    if (found.length !== 1) throw new Error(`${found.length} runs were claimed where 1 was due.`);
  }
  return { claims, looks };
}

async function createDue(store: Store, instanceId: string): Promise<void> {
  const now = Date.now();
  const create = {
    kind: "create",
    workflowName: fiveSteps.name,
    instanceId,
    params: { json: "{}", marks: null },
    createdAt: now,
    dueAt: now,
    deadlineAt: null,
    retentionMs: null,
    parent: null,
    history: [],
    lease: null,
  } as const;
  await store.write([create], now);
}

async function claimOnce(store: Store): Promise<readonly [number, readonly Lease[]]> {
  const now = Date.now();
  const start = performance.now();
  const claims = await store.claim({
    owner: "bench",
    workflows: [{ name: fiveSteps.name, concurrency: null }],
    limit: 16,
    now,
    leaseUntil: now + 30_000,
    crashDelaysMs: [0],
  });
  return [performance.now() - start, claims.map(({ lease }) => lease)];
}

function complete(lease: Lease): CommitRequest {
  return {
    kind: "commit",
    lease,
    boundary: {
      number: 1,
      steps: [],
      timeouts: [],
      consumed: [],
      eventSeqSeen: 0,
      logs: [],
      begun: [],
      next: { kind: "complete", output: { json: "1", marks: null } },
    },
    alongside: [],
    mutations: null,
    leaseUntil: 0,
  };
}
