/** What a workflow costs the store, counted by the store's server, on the wire and at the contract. Nothing is timed. */
import { forEachOf, idle, startEngine } from "../engine.ts";
import type { Place } from "../grounds/ground.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { fiveSteps } from "./five-steps.ts";

const ways = { alone: "one at a time", together: "many at once" } as const;

export const cost: Workload = {
  name: "cost",
  about: "what a workflow of 5 steps asks of the store: one at a time, and many at once",
  roundsMax: 2,

  async measure(bench) {
    const { costRuns, workflows, createsInFlight } = bench.sizes;
    const place = bench.freshPlace();
    bench.note("start and stop");
    await costOf(bench, place, { prefix: "first", count: 0, atOnce: 1 });
    const nothing = await costOf(bench, place, { prefix: "none", count: 0, atOnce: 1 });
    bench.note(`${costRuns} workflows one after the other`);
    const alone = await costOf(bench, place, { prefix: "alone", count: costRuns, atOnce: 1 });
    bench.note(`${workflows.toLocaleString("en")} workflows at once`);
    const together = await costOf(bench, place, {
      prefix: "together",
      count: workflows,
      atOnce: createsInFlight,
    });
    return {
      ...perWorkflow("alone", alone, nothing, costRuns),
      ...perWorkflow("together", together, nothing, workflows),
    };
  },

  lines: (_sizes, { name, meter }) =>
    (["alone", "together"] as const).flatMap((way): LineSpec[] => {
      const line = (what: string, figure: string): LineSpec => ({
        what: `${ways[way]}: ${what}`,
        unit: "",
        engine: `${way} ${figure}`,
      });
      return [
        line("calls of the store", "calls"),
        line("write transactions", "transactions"),
        ...(meter ? [line("round trips", "roundTrips")] : []),
        ...(name === "postgres" ? [line("statements", "statements")] : []),
        ...(meter?.counts ?? []).map(({ name: figure, what }) => line(what, `server ${figure}`)),
      ];
    }),
};

interface Load {
  readonly prefix: string;
  readonly count: number;
  readonly atOnce: number;
}

/**
 * The server is asked before the first connection is opened and after the last is closed, because a connection that is
 * open may not have told yet what it did.
 */
async function costOf(bench: Bench, place: Place, { prefix, count, atOnce }: Load): Promise<Figures> {
  const { meter } = bench.ground;
  const before = await meter?.read();
  const engine = await startEngine(place, { fiveSteps });
  await idle();
  engine.takeCounts();
  bench.wire.take();
  const results: Promise<unknown>[] = [];
  await forEachOf(count, atOnce, async (n) => {
    const instance = await engine.workflows.fiveSteps.create({ id: `${prefix}-${n}` });
    const result = instance.result();
    if (atOnce === 1) await result;
    else results.push(result);
  });
  await Promise.all(results);
  const { calls, transactions } = engine.takeCounts();
  const wire = bench.wire.take();
  await engine.stop();
  // Until the server has noticed that the connections are gone.
  if (meter) await idle(300);
  const after = await meter?.read();
  const counted = (meter?.counts ?? []).map(({ name }) => [
    `server ${name}`,
    (after?.[name] ?? 0) - (before?.[name] ?? 0),
  ]);
  return { calls, transactions, ...(meter && wire), ...Object.fromEntries(counted) };
}

/** What starting and stopping costs the server is taken off. */
function perWorkflow(way: keyof typeof ways, found: Figures, nothing: Figures, count: number): Figures {
  const figures = Object.entries(found).map(([name, value]) => {
    const own = name.startsWith("server ") ? value - (nothing[name] ?? 0) : value;
    return [`${way} ${name}`, own / count];
  });
  return Object.fromEntries(figures);
}
