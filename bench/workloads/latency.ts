import { startEngine } from "../engine.ts";
import { begin } from "../raw/life.ts";
import { percentile } from "../stats.ts";
import { timedEach } from "../stopwatch.ts";
import type { Workload } from "../workload.ts";
import { fiveSteps, fiveStepsLife, stepCount } from "./five-steps.ts";

export const latency: Workload = {
  name: "latency",
  about: "one workflow of 5 steps at a time, from create to its result",

  async measure(bench) {
    const { latencyRuns, warmUps } = bench.sizes;
    const rawPlace = bench.freshPlace();
    const raw = await rawPlace.openRaw();
    const writeOne = (): unknown => begin(raw, fiveStepsLife, 1);
    await timedEach(warmUps, writeOne);
    bench.note(`raw, ${latencyRuns} times ${fiveStepsLife.length} transactions`);
    const rawMs = await timedEach(latencyRuns, writeOne);
    await raw.close();

    const enginePlace = bench.freshPlace();
    const engine = await startEngine(enginePlace, { fiveSteps });
    const runOne = async (id: string): Promise<void> => {
      const instance = await engine.workflows.fiveSteps.create({ id });
      await instance.result();
    };
    await timedEach(warmUps, (n) => runOne(`warm-${n}`));
    engine.takeCounts();
    bench.note(`engine, ${latencyRuns} workflows one after the other`);
    const engineMs = await timedEach(latencyRuns, (n) => runOne(`i-${n}`));
    const counts = engine.takeCounts();
    await engine.stop();
    await bench.compareRows(enginePlace, rawPlace);

    return {
      p50: percentile(engineMs, 0.5),
      p99: percentile(engineMs, 0.99),
      rawP50: percentile(rawMs, 0.5),
      rawP99: percentile(rawMs, 0.99),
      storeMs: counts.storeMs / latencyRuns,
      rawMeanMs: rawMs.reduce((sum, ms) => sum + ms, 0) / latencyRuns,
      transactions: counts.transactions / latencyRuns,
      boundaries: counts.boundaries / latencyRuns,
      rawTransactions: fiveStepsLife.length,
      rawBoundaries: fiveStepsLife.length - 1,
    };
  },

  lines: () => [
    {
      what: "create to result, p50",
      unit: "ms",
      engine: "p50",
      raw: "rawP50",
      aim: { atMost: 1.5, of: "ratio" },
    },
    { what: "create to result, p99", unit: "ms", engine: "p99", raw: "rawP99" },
    { what: "of it inside the store, mean", unit: "ms", engine: "storeMs", raw: "rawMeanMs" },
    {
      what: "transactions per workflow",
      unit: "",
      engine: "transactions",
      raw: "rawTransactions",
      aim: { exactly: stepCount + 1, of: "engine" },
    },
    { what: "boundaries per workflow", unit: "", engine: "boundaries", raw: "rawBoundaries" },
  ],
};
