import { createWorkflows } from "everstep";
import { idle } from "../engine.ts";
import { sharedNow } from "../processes/messages.ts";
import { nudgedWorkflow } from "../processes/nudged.ts";
import { type Body, withRunners } from "../processes/runner-process.ts";
import { percentile } from "../stats.ts";
import type { Bench, LineSpec, Workload } from "../workload.ts";

/** A store without nudges takes a poll for each; then fewer have to do. */
const budgetMs = 10_000;
/** Whoever waits looks every ten seconds at least; more is a mistake, and no figure. */
const noticedMsMax = 20_000;

const kinds = {
  start: "create to start",
  continue: "event to continue",
  result: "last step to result",
} as const;

export const nudges: Workload = {
  name: "nudges",
  about: "one process creates and sends events, another one runs; one at a time",
  roundsMax: 2,

  async measure(bench) {
    const figures: Record<string, number> = {};
    if (bench.ground.hint) {
      bench.note("raw, hints from one connection to another");
      const hints = await bench.ground.hint(bench.sizes.nudges);
      figures.hint50 = percentile(hints, 0.5);
      figures.hint99 = percentile(hints, 0.99);
    }
    const found = await measureEngine(bench);
    for (const [kind, samples] of Object.entries(found)) {
      figures[`${kind}50`] = percentile(samples, 0.5);
      figures[`${kind}99`] = percentile(samples, 0.99);
    }
    return { ...figures, samples: found.start.length };
  },

  lines(_sizes, { name, hint }) {
    const isTold = name === "postgres" || name === "redis";
    const line = (kind: keyof typeof kinds, share: "50" | "99"): LineSpec => ({
      what: `${kinds[kind]} in another process, p${share}${hint ? "; raw: a hint alone" : ""}`,
      unit: "ms",
      engine: `${kind}${share}`,
      ...(hint && { raw: `hint${share}`, ratio: false }),
      ...(isTold && kind === "continue" && share === "50" && { aim: { below: 10, of: "engine" } }),
    });
    return [
      ...(["start", "continue", "result"] as const).flatMap((kind) => [line(kind, "50"), line(kind, "99")]),
      { what: "samples", unit: "", engine: "samples" },
    ];
  },
};

async function measureEngine(bench: Bench): Promise<Record<keyof typeof kinds, number[]>> {
  const { ground, sizes } = bench;
  const place = bench.freshPlace();
  // Never started: it only asks.
  const app = createWorkflows({ workflows: { nudged: nudgedWorkflow(() => {}) }, store: place.open() });
  await app.migrate();
  const samples = { start: [] as number[], continue: [] as number[], result: [] as number[] };
  try {
    await withRunners(1, ground, place, async ([runner]) => {
      const bodies = new Map<string, (body: Body) => void>();
      runner?.onBody((body) => bodies.get(`${body.instanceId} ${body.name}`)?.(body));
      const bodyOf = (id: string, name: string): Promise<Body> =>
        new Promise((resolve) => void bodies.set(`${id} ${name}`, resolve));

      /** At no fixed distance, so that a poll is met at every moment of its interval. */
      let turn = 0;
      const pause = (): Promise<void> => idle(20 + ((turn++ * 37) % 100));

      const one = async (id: string): Promise<{ start: number; continue: number; result: number }> => {
        await pause();
        const started = bodyOf(id, "start");
        const createdAt = sharedNow();
        const instance = await app.workflows.nudged.create({ id });
        const startedAt = (await started).at;
        while ((await instance.status()).status !== "waiting") await idle(5);
        await pause();
        const continued = bodyOf(id, "continue");
        const result = instance.result({ timeout: "30 seconds" });
        // Whoever waits for the result looks once at first; that look is over before the event is sent.
        await pause();
        const sentAt = sharedNow();
        await instance.sendEvent({ type: "go" });
        const continuedAt = (await continued).at;
        await result;
        const resultMs = sharedNow() - continuedAt;
        if (resultMs > noticedMsMax)
          throw new Error(`Nobody noticed for ${resultMs} ms that ${id} had ended.`);
        return { start: startedAt - createdAt, continue: continuedAt - sentAt, result: resultMs };
      };

      bench.note(`${sizes.nudges} instances, one at a time`);
      for (let n = 0; n < Math.min(3, sizes.warmUps); n++) await one(`warm-${n}`);
      const start = performance.now();
      for (let n = 0; n < sizes.nudges && performance.now() - start < budgetMs; n++) {
        const sample = await one(`i-${n}`);
        for (const kind of Object.keys(samples) as (keyof typeof samples)[]) samples[kind].push(sample[kind]);
      }
    });
  } finally {
    await app.stop();
  }
  return samples;
}
