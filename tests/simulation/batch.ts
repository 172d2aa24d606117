/** Many seeds, one after the other, and what came of them. */
import { type Explored, type ExploreOptions, explore } from "./explore/explore.ts";
import type { Data } from "./stores.ts";

export type Mode = "safety" | "liveness";

export interface Batch {
  readonly mode: Mode;
  readonly seeds: Iterable<number>;
  /** Where the data of a seed is kept; memory unless given. */
  readonly openData?: (() => Promise<Data>) | null;
  /** Kinds of faults that may be drawn; all unless given. */
  readonly faults?: ExploreOptions["faults"];
  readonly onSeed?: (explored: Explored) => void;
  /** Ends it early. */
  readonly isOver?: () => boolean;
}

export interface BatchReport {
  seeds: number;
  calls: number;
  /** Broken promises, and worlds that came out differently the second time. */
  readonly failures: Failure[];
  readonly sightings: Map<string, number>;
}

export interface Failure {
  readonly seed: number;
  readonly mode: Mode;
  readonly invariant: string;
  readonly message: string;
}

/** One in so many seeds, the first among them, runs twice and must come out alike. */
const twiceEvery = 100;

export async function runBatch({
  mode,
  seeds,
  openData,
  faults,
  onSeed,
  isOver,
}: Batch): Promise<BatchReport> {
  const options = { mode, ...(faults ? { faults } : {}) };
  const report: BatchReport = { seeds: 0, calls: 0, failures: [], sightings: new Map() };
  for (const seed of seeds) {
    if (isOver?.()) break;
    const explored = await exploreOn(openData, seed, options);
    report.seeds++;
    report.calls += explored.calls;
    for (const [what, count] of explored.sightings)
      report.sightings.set(what, (report.sightings.get(what) ?? 0) + count);
    if (explored.finding) report.failures.push({ seed, mode, ...explored.finding });
    else if (report.seeds % twiceEvery === 1) {
      const again = await exploreOn(openData, seed, options);
      const message = `the world came out as ${explored.hash}, and then as ${again.hash}`;
      if (again.hash !== explored.hash)
        report.failures.push({ seed, mode, invariant: "not repeatable", message });
    }
    onSeed?.(explored);
  }
  return report;
}

export async function exploreOn(
  openData: (() => Promise<Data>) | null | undefined,
  seed: number,
  options: ExploreOptions,
): Promise<Explored> {
  if (!openData) return explore(seed, options);
  const data = await openData();
  try {
    return await explore(seed, { ...options, openData: data.openData });
  } finally {
    await data.close();
  }
}

export function* numbers(from: number, count: number, step = 1): Generator<number> {
  for (let at = 0; at < count; at += step) yield from + at;
}

export function replayCommand(seed: number, mode: Mode, store = "memory"): string {
  return `npm run simulate -- --replay ${seed} --mode ${mode}${store === "memory" ? "" : ` --store ${store}`}`;
}
