import { forEachOf, idle, startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import { beginInGroups } from "../raw/life.ts";
import { type Taken, timed } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { fiveSteps, fiveStepsLife, stepCount } from "./five-steps.ts";

/** Workflows that share a transaction in the raw runs; the last is what the engine does by default. */
const groupSizes = [50, 200, 256] as const;
/** How many connections a raw run with several of them uses. */
const connections = 4;
/** Enough for the compiler to be done with the hot code: throughput still rises during the first thousands. */
const warmUpRounds = 2;

export const throughput: Workload = {
  name: "throughput",
  about: "many workflows of 5 steps at once, from the first create to the last result",

  async measure(bench) {
    const rawPlace = bench.freshPlace();
    const raw = await measureRaw(bench, rawPlace);
    const enginePlace = bench.freshPlace();
    const engine = await measureEngine(bench, enginePlace);
    await bench.compareRows(enginePlace, rawPlace);
    return { ...raw, ...engine, engineCpu: (engine.cpu ?? 0) - (raw.rawCpu ?? 0) };
  },

  lines: ({ workflows }, { hasConnections }) => [
    {
      what: `steps, ${count(workflows)} workflows x ${stepCount} steps`,
      unit: "per s",
      engine: "steps",
      raw: "rawSteps256",
      aim: { atLeast: 0.5, of: "ratio" },
    },
    { what: "workflows", unit: "per s", engine: "workflows", raw: "rawWorkflows256" },
    { what: "workflows, raw with 200 per transaction", unit: "per s", raw: "rawWorkflows200" },
    { what: "workflows, raw with 50 per transaction", unit: "per s", raw: "rawWorkflows50" },
    ...(hasConnections ? [connectionsLine] : []),
    { what: "transactions per workflow", unit: "", engine: "transactions", raw: "rawTransactions" },
    { what: "boundaries per workflow", unit: "", engine: "boundaries", raw: "rawBoundaries" },
    { what: "claims per workflow", unit: "", engine: "claims" },
    { what: "processor time of this process per step", unit: "us", engine: "cpu", raw: "rawCpu" },
    {
      what: "engine's share of it (the difference)",
      unit: "us",
      engine: "engineCpu",
      aim: { watched: true, of: "engine" },
    },
  ],
};

const connectionsLine: LineSpec = {
  what: `workflows, raw with 256 per transaction on each of ${connections} connections`,
  unit: "per s",
  raw: "rawWorkflowsConnections",
};

async function measureRaw(bench: Bench, place: Place): Promise<Figures> {
  const { workflows } = bench.sizes;
  const { hasConnections } = bench.ground;
  const raw = await place.openRaw(hasConnections ? connections : 1);
  const figures: Record<string, number> = {};
  let taken: Taken = { ms: 0, cpuUs: 0 };
  await beginInGroups(raw, fiveStepsLife, warmUpRounds * workflows, { together: groupSizes[2] });
  for (const together of groupSizes) {
    bench.note(`raw, ${together} workflows per transaction`);
    taken = await timed(() => beginInGroups(raw, fiveStepsLife, workflows, { together }));
    figures[`rawWorkflows${together}`] = (workflows / taken.ms) * 1000;
    figures[`rawSteps${together}`] = ((workflows * stepCount) / taken.ms) * 1000;
  }
  if (hasConnections) {
    bench.note(`raw, ${groupSizes[2]} workflows per transaction, ${connections} connections`);
    const grouping = { together: groupSizes[2], connections };
    const { ms } = await timed(() => beginInGroups(raw, fiveStepsLife, workflows, grouping));
    figures.rawWorkflowsConnections = (workflows / ms) * 1000;
  }
  await raw.close();
  const groups = Math.ceil(workflows / groupSizes[2]);
  return {
    ...figures,
    rawTransactions: (groups * fiveStepsLife.length) / workflows,
    rawBoundaries: fiveStepsLife.length - 1,
    rawCpu: taken.cpuUs / (workflows * stepCount),
  };
}

async function measureEngine(bench: Bench, place: Place): Promise<Figures> {
  const { workflows, createsInFlight } = bench.sizes;
  const engine = await startEngine(place, { fiveSteps });
  const runAll = async (prefix: string, howMany: number): Promise<void> => {
    const results: Promise<unknown>[] = [];
    await forEachOf(howMany, createsInFlight, async (n) => {
      const instance = await engine.workflows.fiveSteps.create({ id: `${prefix}-${n}` });
      results.push(instance.result());
    });
    await Promise.all(results);
  };
  bench.note("engine, warming up");
  await runAll("warm", warmUpRounds * workflows);
  await idle();
  engine.takeCounts();
  bench.note(`engine, ${count(workflows)} workflows`);
  const { ms, cpuUs } = await timed(() => runAll("i", workflows));
  const counts = engine.takeCounts();
  await engine.stop();
  return {
    workflows: (workflows / ms) * 1000,
    steps: ((workflows * stepCount) / ms) * 1000,
    transactions: counts.transactions / workflows,
    boundaries: counts.boundaries / workflows,
    claims: counts.claims / workflows,
    cpu: cpuUs / (workflows * stepCount),
  };
}

function count(value: number): string {
  return value.toLocaleString("en");
}
