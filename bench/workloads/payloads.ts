/** Large params and results: what goes through, and what it costs. */
import { randomBytes } from "node:crypto";
import { defineWorkflow } from "everstep";
import { forEachOf, idle, startEngine } from "../engine.ts";
import { beginInGroups } from "../raw/life.ts";
import { nothing } from "../raw/rows.ts";
import { stepsLife } from "../raw/steps-life.ts";
import { type Taken, timed } from "../stopwatch.ts";
import type { Bench, Figures, LineSpec, Payload, Workload } from "../workload.ts";

const stepCount = 2;
const createsInFlight = 64;
/** More than the largest size, with room for quotes; 1 MiB is what an author may use without asking. */
const maxBytes = 2 * 1024 * 1024;
/** What a raw transaction holds at most, so that no server refuses it. */
const bytesTogether = 4 * 1024 * 1024;

interface Parcel {
  readonly text: string;
}

const carrier = defineWorkflow<Parcel, void>(
  { name: "carrier", limits: { maxParamsBytes: maxBytes, maxResultBytes: maxBytes } },
  async ({ payload }, step) => {
    for (let n = 0; n < stepCount; n++) await step.do(`step ${n}`, async () => payload.text);
  },
);

export const payloads: Workload = {
  name: "payloads",
  about: `workflows of ${stepCount} steps whose params and results have 1 KB, 64 KB and 1 MB`,
  roundsMax: 2,

  async measure(bench) {
    const figures: Record<string, number> = {};
    for (const payload of bench.sizes.payloads) {
      const raw = await measureRaw(bench, payload);
      const engine = await measureEngine(bench, payload);
      Object.assign(figures, figuresOf("raw", payload, raw, stepCount));
      Object.assign(figures, figuresOf("engine", payload, engine, stepCount + 1));
    }
    return figures;
  },

  lines: ({ payloads: sizes }) =>
    sizes.flatMap(({ bytes }): LineSpec[] => [
      line(`${text(bytes)}: workflows; raw: without params`, "per s", "Workflows", bytes),
      line(`${text(bytes)}: params and results; raw: results`, "MB per s", "Megabytes", bytes),
      line(`${text(bytes)}: processor time per workflow`, "us", "Cpu", bytes),
    ]),
};

function line(what: string, unit: LineSpec["unit"], figure: string, bytes: number): LineSpec {
  return { what, unit, engine: `engine${figure}${bytes}`, raw: `raw${figure}${bytes}` };
}

function text(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`;
}

/** `values`: how many of this size a workflow leaves in the store. */
function figuresOf(who: "raw" | "engine", payload: Payload, { ms, cpuUs }: Taken, values: number): Figures {
  const { bytes, workflows } = payload;
  return {
    [`${who}Workflows${bytes}`]: (workflows / ms) * 1000,
    [`${who}Megabytes${bytes}`]: (workflows * values * bytes) / 1e6 / (ms / 1000),
    [`${who}Cpu${bytes}`]: cpuUs / workflows,
  };
}

async function measureRaw(bench: Bench, { bytes, workflows }: Payload): Promise<Taken> {
  const result = JSON.stringify(parcelOf(bytes));
  const life = stepsLife({
    workflow: carrier.name,
    steps: stepCount,
    stepName: (n) => `step ${n}`,
    result: () => result,
    output: nothing,
  });
  const raw = await bench.freshPlace().openRaw();
  const together = Math.max(1, Math.min(256, Math.floor(bytesTogether / bytes)));
  await beginInGroups(raw, life, together, { together });
  bench.note(`raw, ${workflows} workflows with results of ${text(bytes)}, ${together} per transaction`);
  const taken = await timed(() => beginInGroups(raw, life, workflows, { together }));
  await raw.close();
  return taken;
}

async function measureEngine(bench: Bench, { bytes, workflows }: Payload): Promise<Taken> {
  const engine = await startEngine(bench.freshPlace(), { carrier });
  const params = { text: parcelOf(bytes) };
  const runAll = async (prefix: string, count: number): Promise<void> => {
    const results: Promise<unknown>[] = [];
    await forEachOf(count, createsInFlight, async (n) => {
      const instance = await engine.workflows.carrier.create({ id: `${prefix}-${n}`, params });
      results.push(instance.result());
    });
    await Promise.all(results);
  };
  await runAll("warm", Math.ceil(workflows / 4));
  await idle();
  bench.note(`engine, ${workflows} workflows with params and results of ${text(bytes)}`);
  const taken = await timed(() => runAll("i", workflows));
  await engine.stop();
  return taken;
}

/** Nothing that a store could compress much. */
function parcelOf(bytes: number): string {
  return randomBytes(bytes).toString("base64").slice(0, bytes);
}
