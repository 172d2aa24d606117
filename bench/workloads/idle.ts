/** What a runner asks of its store while there is nothing to do. */
import { forEachOf, idle, startEngine } from "../engine.ts";
import type { LineSpec, Workload } from "../workload.ts";
import { fiveSteps } from "./five-steps.ts";

/** Until the end of the last workflow is known everywhere. */
const settleMs = 500;

export const idleRunner: Workload = {
  name: "idle",
  about: "a runner that has done some work and now has none: what it asks of the store",
  roundsMax: 1,

  async measure(bench) {
    const { idleMs, warmUps } = bench.sizes;
    const engine = await startEngine(bench.freshPlace(), { fiveSteps });
    await forEachOf(warmUps, warmUps, async (n) => {
      const instance = await engine.workflows.fiveSteps.create({ id: `i-${n}` });
      await instance.result();
    });
    await idle(settleMs);
    engine.takeCounts();
    bench.wire.take();
    bench.note(`nothing to do for ${idleMs / 1000} s`);
    const cpu = process.cpuUsage();
    const start = performance.now();
    await idle(idleMs);
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const { calls, looks } = engine.takeCounts();
    const { roundTrips, statements } = bench.wire.take();
    await engine.stop();
    return {
      queries: (calls - looks) / seconds,
      looks: looks / seconds,
      roundTrips: roundTrips / seconds,
      statements: statements / seconds,
      cpuMs: (user + system) / 1000 / seconds,
    };
  },

  lines: (_sizes, { name, meter }) => [
    {
      what: "queries (calls of the store) of an idle runner",
      unit: "per s",
      engine: "queries",
      aim: { below: 1, of: "engine" },
    },
    ...(meter ? [line("round trips", "roundTrips")] : [line("looks at the file's change mark", "looks")]),
    ...(name === "postgres" ? [line("statements", "statements")] : []),
    { what: "processor time per second", unit: "ms", engine: "cpuMs" },
  ],
};

function line(what: string, engine: string): LineSpec {
  return { what, unit: "per s", engine };
}
