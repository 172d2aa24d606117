/** Whether the ten-thousandth step costs more than the first. */
import { defineWorkflow } from "everstep";
import { startEngine } from "../engine.ts";
import { type Taken, timed } from "../stopwatch.ts";
import type { Bench, LineSpec, Workload } from "../workload.ts";

export const linear: Workload = {
  name: "linear",
  about: "workflows of 1,000 steps, as many steps in one workflow, and those of 1,000 again: time per step",
  roundsMax: 2,

  async measure(bench) {
    const [fewest = 1, most = 1] = bench.sizes.linear;
    const found = await measureBoth(bench, fewest, most);
    const perStep = (taken: readonly Taken[], what: keyof Taken): number =>
      taken.reduce((sum, each) => sum + each[what], 0) / most;
    const figures = {
      ms1: perStep(found.short, "ms"),
      cpu1: perStep(found.short, "cpuUs"),
      ms2: perStep(found.long, "ms"),
      cpu2: perStep(found.long, "cpuUs"),
    };
    return {
      ...figures,
      msGrowth: figures.ms2 / figures.ms1,
      cpuGrowth: figures.cpu2 / figures.cpu1,
    };
  },

  lines: ({ linear: counts }) => [
    ...counts.flatMap((steps, n): LineSpec[] => [
      { what: `time per step, ${text(steps)} steps`, unit: "ms", engine: `ms${n + 1}` },
      { what: `processor time per step, ${text(steps)} steps`, unit: "us", engine: `cpu${n + 1}` },
    ]),
    {
      what: `time per step, ${counts.map(text).toReversed().join(" steps against ")}`,
      unit: "",
      engine: "msGrowth",
      aim: { atMost: 1.2, of: "engine" },
    },
    { what: "the same in processor time", unit: "", engine: "cpuGrowth" },
  ],
};

/** As many steps in short workflows as in the long one, half of them before it and half after: a slow minute meets both. */
async function measureBoth(
  bench: Bench,
  fewest: number,
  most: number,
): Promise<{ readonly short: readonly Taken[]; readonly long: readonly Taken[] }> {
  const many = defineWorkflow<{ readonly steps: number }, number>(
    { name: "many", limits: { maxSteps: most } },
    async ({ payload }, step) => {
      for (let n = 0; n < payload.steps; n++) await step.do(`step ${n}`, async () => ({ n, ok: true }));
      return payload.steps;
    },
  );
  const engine = await startEngine(bench.freshPlace(), { many });
  const run = (id: string, steps: number): Promise<Taken> =>
    timed(async () => {
      const instance = await engine.workflows.many.create({ id, params: { steps } });
      const { status } = await instance.result();
      if (status !== "complete") throw new Error(`The workflow of ${steps} steps ended ${status}.`);
    });
  const times = Math.round(most / fewest);
  const short: Taken[] = [];
  const runShort = async (from: number, to: number): Promise<void> => {
    bench.note(`engine, ${to - from} workflows of ${text(fewest)} steps, one after the other`);
    for (let n = from; n < to; n++) short.push(await run(`short-${n}`, fewest));
  };
  await run("warm", fewest);
  await runShort(0, Math.floor(times / 2));
  bench.note(`engine, a workflow of ${text(most)} steps`);
  const long = [await run("long", most)];
  await runShort(Math.floor(times / 2), times);
  await engine.stop();
  return { short, long };
}

function text(count: number): string {
  return count.toLocaleString("en");
}
