/** Shares the seeds among processes, shows how far it is, and tells what broke. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Failure, replayCommand } from "./batch.ts";
import type { Options } from "./options.ts";
import { neverSeen } from "./sometimes.ts";
import type { WorkerNews } from "./worker.ts";

/** Fewer seeds than this may miss what comes up only now and then. */
const enoughForSometimes = 2000;

export async function runAll(options: Options): Promise<number> {
  const workers = options.jobs ?? availableParallelism();
  const began = performance.now();
  const failures: Failure[] = [];
  const sightings = new Map<string, number>();
  let seeds = 0;
  let calls = 0;
  const rate = (): number => seeds / ((performance.now() - began) / 1000);
  const progress = (): string =>
    `${seeds} of ${options.seeds} seeds, ${rate().toFixed(0)}/s, ${failures.length} broken`;
  const shown = setInterval(() => console.log(progress()), 5000);
  const hear = (news: WorkerNews): void => {
    seeds += news.seeds;
    calls += news.calls;
    for (const [what, count] of news.sightings) sightings.set(what, (sightings.get(what) ?? 0) + count);
    for (const failure of news.failures) {
      failures.push(failure);
      if (failures.length <= 20) tell(failure, options);
    }
  };
  const codes = await Promise.all(Array.from({ length: workers }, (_, place) => work(place, workers, hear)));
  clearInterval(shown);
  console.log(`${progress()}; ${Math.round(calls / Math.max(1, seeds))} store calls each`);
  const isUsual = options.store === "memory" && options.faults === null;
  const missing = seeds >= enoughForSometimes && isUsual ? neverSeen(sightings) : [];
  if (missing.length > 0) console.log(`Never came up: ${missing.join(", ")}`);
  const isDone = codes.every((code) => code === 0);
  if (!isDone) console.log(`A process of the simulation itself failed (${codes.join(", ")}).`);
  return failures.length === 0 && missing.length === 0 && isDone ? 0 : 1;
}

async function work(place: number, workers: number, hear: (news: WorkerNews) => void): Promise<number> {
  const child = fork(join(import.meta.dirname, "main.ts"), [...process.argv.slice(2), "--worker"], {
    env: {
      ...process.env,
      EVERSTEP_SIMULATION_PLACE: String(place),
      EVERSTEP_SIMULATION_WORKERS: String(workers),
    },
  });
  child.on("message", (news: WorkerNews) => hear(news));
  const [code] = await once(child, "exit");
  return code ?? 1;
}

function tell({ seed, mode, invariant, message }: Failure, { store, faults }: Options): void {
  const drawn = faults === null ? "" : ` --faults "${faults.join(",")}"`;
  console.log(`BROKEN ${invariant}: ${message}\n  ${replayCommand(seed, mode, store)}${drawn} --shrink`);
}
