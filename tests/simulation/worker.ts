/** One of the processes that share the work: every so manieth seed, reported to the parent as it goes. */
import { type BatchReport, type Failure, numbers, runBatch } from "./batch.ts";
import type { Options } from "./options.ts";
import { openerOf } from "./stores.ts";

export interface WorkerNews {
  readonly seeds: number;
  readonly calls: number;
  readonly failures: readonly Failure[];
  readonly sightings: readonly (readonly [string, number])[];
}

/** Seeds between two reports. */
const portion = 50;

/** The place of this worker and how many there are come in the environment. */
export async function runWorker({ from, seeds, modes, store, faults }: Options): Promise<number> {
  const place = Number(process.env.EVERSTEP_SIMULATION_PLACE);
  const workers = Number(process.env.EVERSTEP_SIMULATION_WORKERS);
  const openData = openerOf(store);
  // Stacks cost more than most worlds, and nobody reads them here.
  Error.stackTraceLimit = 0;
  for (let begin = place; begin < seeds; begin += workers * portion) {
    for (const mode of modes) {
      const count = Math.min(portion * workers, seeds - begin);
      const mine = [...numbers(from + begin, count, workers)].filter(
        (seed) => modes.length === 1 || modes[seed % modes.length] === mode,
      );
      send(await runBatch({ mode, seeds: mine, openData, ...(faults ? { faults } : {}) }));
    }
  }
  return 0;
}

function send({ seeds, calls, failures, sightings }: BatchReport): void {
  process.send?.({ seeds, calls, failures, sightings: [...sightings] } satisfies WorkerNews);
}
