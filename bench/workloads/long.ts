import { defineWorkflow } from "everstep";
import type { StoreCounts } from "../counting-store.ts";
import { startEngine } from "../engine.ts";
import { type Act, begin, type Life } from "../raw/life.ts";
import { nothing } from "../raw/rows.ts";
import { timed } from "../stopwatch.ts";
import type { Bench, Workload } from "../workload.ts";

const napEvery = 10;
const napMs = 1;

interface Shape {
  readonly steps: number;
  readonly naps: boolean;
}

const long = defineWorkflow<Shape, void>({ name: "long" }, async ({ payload }, step) => {
  for (let n = 0; n < payload.steps; n++) {
    await step.do(`step ${n}`, async () => ({ n, ok: true }));
    if (payload.naps && (n + 1) % napEvery === 0) await step.sleep(`nap ${n}`, napMs);
  }
});

export const longWorkflow: Workload = {
  name: "long",
  about: "one workflow of many steps, also with a short sleep every 10 steps, kept in memory and replayed",
  roundsMax: 2,

  async measure(bench) {
    const steps = bench.sizes.longSteps;
    const plain = { steps, naps: false };
    const napping = { steps, naps: true };
    const raw = await measureRaw(bench, plain);
    const engine = await measureEngine(bench, plain, {});
    const rawNaps = await measureRaw(bench, napping);
    const resident = await measureEngine(bench, napping, {});
    const replayed = await measureEngine(bench, napping, { maxResidents: 0 });
    return {
      ms: engine.ms,
      transactions: engine.transactions,
      rawMs: raw,
      rawTransactions: lifeOf(plain).length,
      residentMs: resident.ms,
      residentTransactions: resident.transactions,
      residentReplays: resident.replays / naps(steps),
      replayedMs: replayed.ms,
      replayedReads: replayed.runReads / naps(steps),
      rawNapsMs: rawNaps,
      rawNapsTransactions: lifeOf(napping).length,
    };
  },

  lines({ longSteps }) {
    const steps = longSteps.toLocaleString("en");
    return [
      { what: `${steps} steps without a break`, unit: "ms", engine: "ms", raw: "rawMs" },
      { what: "its transactions", unit: "", engine: "transactions", raw: "rawTransactions" },
      {
        what: `with ${naps(longSteps)} sleeps of ${napMs} ms, kept in memory`,
        unit: "ms",
        engine: "residentMs",
        raw: "rawNapsMs",
      },
      { what: "with the sleeps, replayed each time", unit: "ms", engine: "replayedMs", raw: "rawNapsMs" },
      {
        what: "transactions with the sleeps",
        unit: "",
        engine: "residentTransactions",
        raw: "rawNapsTransactions",
      },
      {
        what: "histories read per sleep, kept in memory",
        unit: "",
        engine: "residentReplays",
        aim: { exactly: 0, of: "engine" },
      },
      {
        what: "reads of a history per sleep, replayed each time",
        unit: "",
        engine: "replayedReads",
        aim: { atMost: 1, of: "engine" },
      },
    ];
  },
};

function naps(steps: number): number {
  return Math.floor(steps / napEvery);
}

async function measureRaw(bench: Bench, shape: Shape): Promise<number> {
  const raw = await bench.freshPlace().openRaw();
  const life = lifeOf(shape);
  bench.note(`raw, ${life.length} transactions one after the other`);
  const { ms } = await timed(() => begin(raw, life, 1));
  await raw.close();
  return ms;
}

interface Found extends Pick<StoreCounts, "transactions" | "runReads" | "replays"> {
  readonly ms: number;
}

async function measureEngine(
  bench: Bench,
  shape: Shape,
  runner: { readonly maxResidents?: number },
): Promise<Found> {
  const engine = await startEngine(bench.freshPlace(), { long }, runner);
  const runOne = async (id: string, params: Shape): Promise<void> => {
    const instance = await engine.workflows.long.create({ id, params });
    const { status } = await instance.result();
    if (status !== "complete") throw new Error(`The long workflow ended ${status}.`);
  };
  await runOne("warm", { steps: 2 * bench.sizes.warmUps, naps: shape.naps });
  engine.takeCounts();
  const how = shape.naps ? ` and sleeps, ${runner.maxResidents === 0 ? "replayed" : "in memory"}` : "";
  bench.note(`engine, ${shape.steps} steps${how}`);
  const { ms } = await timed(() => runOne("i", shape));
  const { transactions, runReads, replays } = engine.takeCounts();
  await engine.stop();
  return { ms, transactions, runReads, replays };
}

/** A body begins only when everything before it is durable, so a sleep before a step is settled by itself. */
function lifeOf({ steps, naps }: Shape): Life {
  const acts: Act[] = [(rows, runs, now) => rows.create(runs, "long", now)];
  let index = 0;
  let commit = 0;
  for (let n = 0; n < steps; n++) {
    const isLast = n === steps - 1;
    const hasNap = naps && (n + 1) % napEvery === 0;
    const step = { index: index++, name: `step ${n}`, result: `{"n":${n},"ok":true}` };
    const napIndex = step.index + 1;
    const number = ++commit;
    acts.push((rows, runs, now) => {
      rows.step(runs, step, now);
      if (hasNap) {
        rows.sleep(runs, { index: napIndex, name: `nap ${n}`, wakeAt: now + napMs }, now);
        rows.suspend(runs, number, now + napMs, now);
      } else if (isLast) rows.complete(runs, number, nothing, now);
      else rows.advance(runs, number, `step ${n + 1}`, now);
    });
    if (!hasNap) continue;
    index++;
    commit = 1;
    acts.push(
      (rows, runs, now) => rows.claim(runs, now),
      (rows, runs, now) => {
        rows.settleWait(runs, napIndex, nothing, now);
        if (isLast) rows.complete(runs, 1, nothing, now);
        else rows.advance(runs, 1, `step ${n + 1}`, now);
      },
    );
  }
  return acts;
}
