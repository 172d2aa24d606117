import { type App, createWorkflows } from "everstep";
import { forEachOf, idle } from "../engine.ts";
import { type RunnerProcess, withRunners } from "../processes/runner-process.ts";
import { timed } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";
import { fiveSteps, stepCount } from "./five-steps.ts";

export const runners: Workload = {
  name: "runners",
  about: "the same workflows of 5 steps shared by several processes",
  roundsMax: 3,

  async measure(bench) {
    const figures: Record<string, number> = {};
    for (const count of bench.sizes.runners) Object.assign(figures, await measureWith(bench, count));
    const [fewest, most] = [bench.sizes.runners.at(0), bench.sizes.runners.at(-1)];
    for (const how of ["own", "given"])
      figures[`${how}Gain`] = (figures[`${how}${most}`] ?? 0) / (figures[`${how}${fewest}`] ?? 0);
    return figures;
  },

  lines({ runners: counts, workflows }, { name }) {
    const line = (count: number, how: string, figure: string): LineSpec => ({
      what: `${workflows.toLocaleString("en")} workflows x ${stepCount} steps, ${how} ${processes(count)}`,
      unit: "per s",
      engine: `${figure}${count}`,
    });
    const [fewest = 1, most = 1] = [counts.at(0), counts.at(-1)];
    const gain = (how: string, engine: string): LineSpec => ({
      what: `${how}: ${processes(most)} against ${fewest}`,
      unit: "",
      engine,
      ...(name === "postgres" && { aim: { atLeast: 0.9, of: "engine" } }),
    });
    return [
      ...counts.map((count) => line(count, "created and run by", "own")),
      gain("created and run", "ownGain"),
      ...counts.map((count) => line(count, "created elsewhere, run by", "given")),
      gain("run only", "givenGain"),
    ];
  },
};

function processes(count: number): string {
  return count === 1 ? "1 process" : `${count} processes`;
}

async function measureWith(bench: Bench, count: number): Promise<Figures> {
  const { ground, sizes } = bench;
  const place = bench.freshPlace();
  const app = createWorkflows({ workflows: { fiveSteps }, store: place.open() });
  await app.migrate();
  try {
    return await withRunners(count, ground, place, async (started) => {
      bench.note(`${processes(count)} create and run`);
      await share(started, "warm", sizes.workflows, sizes.createsInFlight);
      await idle(200);
      const own = await timed(() => share(started, "own", sizes.workflows, sizes.createsInFlight));
      await idle(200);
      bench.note(`${processes(count)} run what another one creates`);
      const given = await timed(() => give(app, sizes.workflows, sizes.createsInFlight));
      return {
        [`own${count}`]: (sizes.workflows / own.ms) * 1000,
        [`given${count}`]: (sizes.workflows / given.ms) * 1000,
      };
    });
  } finally {
    await app.stop();
  }
}

async function share(
  processes: readonly RunnerProcess[],
  prefix: string,
  total: number,
  atOnce: number,
): Promise<void> {
  const each = Math.ceil(total / processes.length);
  await Promise.all(
    processes.map((process, n) =>
      process.run({ kind: "run", prefix: `${prefix}-${n}`, count: each, atOnce }),
    ),
  );
}

/** Until the last has ended, as the store counts them: to wait for each alone would keep the store busy with reads. */
async function give(app: App<{ fiveSteps: typeof fiveSteps }>, total: number, atOnce: number): Promise<void> {
  const before = (await app.counts(fiveSteps.name)).complete;
  await forEachOf(
    total,
    atOnce,
    async (n) => void (await app.workflows.fiveSteps.create({ id: `given-${n}` })),
  );
  while ((await app.counts(fiveSteps.name)).complete < before + total) await idle(20);
}
