/** Measures a workload several times, each time on data of its own. */
import type { Ground, Place } from "./grounds/ground.ts";
import type { Options } from "./options.ts";
import type { Progress } from "./progress.ts";
import { differences } from "./raw/same-rows.ts";
import type { Wire } from "./wire.ts";
import type { Bench, Figures, Workload } from "./workload.ts";

export interface Surroundings {
  readonly ground: Ground;
  readonly wire: Wire;
  readonly options: Options;
  readonly progress: Progress;
  /** Collects what the engine's rows and the ones written by hand differ in. */
  readonly rowDifferences: Set<string>;
}

export async function measureRounds(workload: Workload, around: Surroundings): Promise<readonly Figures[]> {
  const { measureAll, roundsMax = Number.POSITIVE_INFINITY } = workload;
  const repeat = Math.min(around.options.repeat, roundsMax);
  if (measureAll) return inPlaces(workload, "all rounds", around, (bench) => measureAll(bench, repeat));
  const rounds: Figures[] = [];
  for (let round = 1; round <= repeat; round++) {
    const which = `round ${round} of ${repeat}`;
    rounds.push(await inPlaces(workload, which, around, (bench) => workload.measure(bench)));
  }
  return rounds;
}

/** Places that were taken are removed afterwards. */
async function inPlaces<Result>(
  { name, minutesMax = 10 }: Workload,
  which: string,
  { ground, wire, options, progress, rowDifferences }: Surroundings,
  act: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const places: Place[] = [];
  let doing = "starting";
  const bench: Bench = {
    sizes: options.sizes,
    ground,
    wire,
    freshPlace() {
      const place = ground.freshPlace();
      places.push(place);
      return place;
    },
    note(what) {
      doing = `${name}, ${which}: ${what}`;
      progress.note(doing);
    },
    progress: (done, of) => progress.count(done, of),
    async compareRows(engine, raw) {
      for (const each of await differences(engine, raw)) rowDifferences.add(`${name}: ${each}`);
    },
  };
  const result = await withinTime(act(bench), options.quick ? 2 : minutesMax, () => doing);
  for (const place of places) await place.remove();
  return result;
}

/** A workflow that is never woken would keep a run waiting for ever; better to say where it was. */
async function withinTime<Result>(
  round: Promise<Result>,
  minutes: number,
  doing: () => string,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error(`No end after ${minutes} minutes (${doing()}).`));
    timer = setTimeout(stop, minutes * 60_000);
  });
  try {
    return await Promise.race([round, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
