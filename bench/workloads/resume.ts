import { defineWorkflow } from "everstep";
import { startEngine } from "../engine.ts";
import { type Act, begin, goOn, type Life } from "../raw/life.ts";
import { waitMs } from "../raw/rows.ts";
import { timed } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Workload } from "../workload.ts";

const stepsAtOnce = 100;

interface Shape {
  readonly history: number;
  readonly resumes: number;
}

export const resume: Workload = {
  name: "resume",
  about: "what it costs to go on after an event, from its sending to the next wait, by length of history",
  roundsMax: 2,

  async measure(bench) {
    const figures: Record<string, number> = {};
    const { histories, replayedHistories, resumes } = bench.sizes;
    for (const history of histories) {
      Object.assign(figures, await measureRaw(bench, { history, resumes }));
      Object.assign(figures, await measureEngine(bench, { history, resumes }, "resident"));
    }
    for (const history of replayedHistories) {
      Object.assign(figures, await measureEngine(bench, { history, resumes }, "replayed"));
    }
    const [shortest, longest] = [histories.at(0), histories.at(-1)];
    figures.growth = (figures[`residentCpu${longest}`] ?? 0) / (figures[`residentCpu${shortest}`] ?? 0);
    return figures;
  },

  lines: ({ histories, replayedHistories }, { name, meter }) => [
    ...histories.flatMap((history): LineSpec[] => [
      {
        what: `after ${steps(history)}, kept in memory`,
        unit: "ms",
        engine: `residentMs${history}`,
        raw: `rawMs${history}`,
      },
      {
        what: `after ${steps(history)}, kept in memory: processor time`,
        unit: "us",
        engine: `residentCpu${history}`,
        raw: `rawCpu${history}`,
      },
    ]),
    {
      what: "growth of processor time from the shortest to the longest",
      unit: "",
      engine: "growth",
      aim: { atMost: 1.5, of: "engine" },
    },
    { what: "transactions per resume", unit: "", engine: "residentTransactions", raw: "rawTransactions" },
    { what: "histories read per resume, kept in memory", unit: "", engine: "residentReplays" },
    { what: "reads of events alone per resume, kept in memory", unit: "", engine: "residentReads" },
    { what: "reads of a history with its events per resume, replayed", unit: "", engine: "replayedReads" },
    ...(["resident", "replayed"] as const).flatMap((how): LineSpec[] => [
      ...(meter ? [perResume("round trips", how, "RoundTrips")] : []),
      ...(name === "postgres" ? [perResume("statements", how, "Statements")] : []),
    ]),
    ...replayedHistories.flatMap((history): LineSpec[] => [
      { what: `after ${steps(history)}, replayed`, unit: "ms", engine: `replayedMs${history}` },
      {
        what: `after ${steps(history)}, replayed: processor time`,
        unit: "us",
        engine: `replayedCpu${history}`,
      },
    ]),
  ],
};

function perResume(what: string, how: "resident" | "replayed", figure: string): LineSpec {
  const where = how === "resident" ? "kept in memory" : "replayed";
  return { what: `${what} per resume, ${where}`, unit: "", engine: `${how}${figure}` };
}

function steps(history: number): string {
  return `${history.toLocaleString("en")} steps`;
}

/** Per resume: the event, the claim, and one commit that takes the event and begins the next wait. */
async function measureRaw(bench: Bench, { history, resumes }: Shape): Promise<Figures> {
  const waiting: Life = [
    (rows, runs, now) => rows.create(runs, "listener", now),
    (rows, runs, now) => {
      for (let n = 0; n < history; n++) rows.step(runs, { index: n, name: `step ${n}`, result: "true" }, now);
      rows.waitForEvent(runs, { index: history, name: "wait 0", type: "go" }, now);
      rows.suspend(runs, 1, now + waitMs, now);
    },
  ];
  const { warmUps } = bench.sizes;
  const resumptions = Array.from({ length: warmUps + resumes }, (_, n): readonly Act[] => [
    (rows, runs, now) => rows.sendEvent(runs, { seq: n + 1, type: "go", payload: "1" }, now),
    (rows, runs, now) => rows.claim(runs, now),
    (rows, runs, now) => {
      rows.consume(runs, n + 1, { index: history + n, name: `wait ${n}` }, now);
      rows.waitForEvent(runs, { index: history + n + 1, name: `wait ${n + 1}`, type: "go" }, now);
      rows.suspend(runs, 1, now + waitMs, now);
    },
  ]);

  const raw = await bench.freshPlace().openRaw();
  const runs = await begin(raw, waiting, 1);
  await goOn(raw, resumptions.slice(0, warmUps).flat(), runs);
  bench.note(`raw, ${resumes} resumes after ${history} steps`);
  const acts = resumptions.slice(warmUps).flat();
  const { ms, cpuUs } = await timed(() => goOn(raw, acts, runs));
  await raw.close();
  return {
    [`rawMs${history}`]: ms / resumes,
    [`rawCpu${history}`]: cpuUs / resumes,
    rawTransactions: acts.length / resumes,
  };
}

async function measureEngine(bench: Bench, shape: Shape, how: "resident" | "replayed"): Promise<Figures> {
  const { history, resumes } = shape;
  const { warmUps } = bench.sizes;
  const listener = defineWorkflow<Pick<Shape, "history">, never>(
    { name: "listener", limits: { maxSteps: history + warmUps + resumes + 1 } },
    async ({ payload }, step) => {
      for (let first = 0; first < payload.history; first += stepsAtOnce) {
        const names = stepNames(first, Math.min(first + stepsAtOnce, payload.history));
        await Promise.all(names.map((name) => step.do(name, async () => true)));
      }
      for (let n = 0; ; n++) await step.waitForEvent(`wait ${n}`, { type: "go" });
    },
  );
  const runner = how === "replayed" ? { maxResidents: 0 } : {};
  const engine = await startEngine(bench.freshPlace(), { listener }, runner);
  bench.note(`engine, ${resumes} resumes after ${history} steps, ${how}`);

  const waits = engine.nextSuspension();
  const instance = await engine.workflows.listener.create({ id: "i", params: { history } });
  await waits;
  const resumeTimes = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      const waitsAgain = engine.nextSuspension();
      await instance.sendEvent({ type: "go", payload: 1 });
      await waitsAgain;
    }
  };
  await resumeTimes(warmUps);
  engine.takeCounts();
  bench.wire.take();
  const { ms, cpuUs } = await timed(() => resumeTimes(resumes));
  const { transactions, runReads, replays } = engine.takeCounts();
  const { statements, roundTrips } = bench.wire.take();
  await engine.stop();
  return {
    [`${how}Ms${history}`]: ms / resumes,
    [`${how}Cpu${history}`]: cpuUs / resumes,
    [`${how}Transactions`]: transactions / resumes,
    [`${how}Reads`]: runReads / resumes,
    [`${how}Replays`]: replays / resumes,
    [`${how}Statements`]: statements / resumes,
    [`${how}RoundTrips`]: roundTrips / resumes,
  };
}

function stepNames(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, n) => `step ${from + n}`);
}
