/** Many seeds, one after the other, and what came of them. */
import type { Store } from "everstep/store";
import { type Explored, explore } from "../../packages/everstep/src/testing/simulate/explore.ts";

export type Mode = "safety" | "liveness";

export interface Batch {
  readonly mode: Mode;
  readonly seeds: Iterable<number>;
  /** Where the data of a seed is kept; memory unless given. */
  readonly openData?: () => Data;
  readonly onSeed?: (explored: Explored) => void;
  /** Ends it early. */
  readonly isOver?: () => boolean;
}

export interface Data {
  readonly openStore: () => Store;
  close(): void | Promise<void>;
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

/** One in so many seeds runs twice and must come out alike. */
const twiceEvery = 100;

export async function runBatch({ mode, seeds, openData, onSeed, isOver }: Batch): Promise<BatchReport> {
  const report: BatchReport = { seeds: 0, calls: 0, failures: [], sightings: new Map() };
  for (const seed of seeds) {
    if (isOver?.()) break;
    const explored = await exploreOn(openData, seed, mode);
    report.seeds++;
    report.calls += explored.calls;
    for (const [what, count] of explored.sightings)
      report.sightings.set(what, (report.sightings.get(what) ?? 0) + count);
    if (explored.finding) report.failures.push({ seed, mode, ...explored.finding });
    else if (seed % twiceEvery === 0) {
      const again = await exploreOn(openData, seed, mode);
      const message = `the world came out as ${explored.hash}, and then as ${again.hash}`;
      if (again.hash !== explored.hash)
        report.failures.push({ seed, mode, invariant: "not repeatable", message });
    }
    onSeed?.(explored);
  }
  return report;
}

export async function exploreOn(
  openData: (() => Data) | undefined,
  seed: number,
  mode: Mode,
): Promise<Explored> {
  if (!openData) return explore(seed, { mode });
  const data = openData();
  try {
    return await explore(seed, { mode, openStore: data.openStore });
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
