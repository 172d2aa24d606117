/**
 * Chooses few seeds that show as much as many: nearly all pairs of things that come up in one world of the many come up in
 * one of theirs. Prints what belongs into chosen.ts:
 *
 *   node scripts/up.mjs run tests/simulation/choose.ts
 */
import { type Mode, numbers, runBatch } from "./batch.ts";

interface World {
  readonly seed: number;
  /** What it costs. */
  readonly calls: number;
  readonly shows: ReadonlySet<string>;
}

const many: Readonly<Record<Mode, number>> = { safety: 2500, liveness: 500 };
/** A world has a price before its first call. */
const callsAtLeast = 60;
/** The last pairs would need worlds as large as all of the others. */
const fewPart = 0.01;

for (const mode of ["safety", "liveness"] as const) {
  const worlds = await explored(mode);
  console.log(`  ${mode}: [${chosenOf(worlds).join(", ")}],`);
}

async function explored(mode: Mode): Promise<readonly World[]> {
  const worlds: World[] = [];
  await runBatch({
    mode,
    seeds: numbers(1, many[mode]),
    onSeed: ({ seed, calls, sightings }) =>
      worlds.push({ seed: Number(seed), calls, shows: twos([...sightings.keys()]) }),
  });
  return worlds;
}

function twos(seen: readonly string[]): ReadonlySet<string> {
  const sorted = seen.toSorted();
  return new Set(sorted.flatMap((one, at) => sorted.slice(at).map((other) => `${one} | ${other}`)));
}

/** Again and again the one that shows most of what is missing, for its price, until little is. */
function chosenOf(worlds: readonly World[]): readonly number[] {
  const missing = new Set(worlds.flatMap(({ shows }) => [...shows]));
  const few = missing.size * fewPart;
  const chosen: number[] = [];
  while (missing.size > few) {
    const worth = ({ shows, calls }: World): number =>
      [...shows].filter((what) => missing.has(what)).length / (calls + callsAtLeast) ** 0.7;
    const best = worlds.reduce((one, other) => (worth(other) > worth(one) ? other : one));
    for (const what of best.shows) missing.delete(what);
    chosen.push(best.seed);
  }
  return chosen;
}
