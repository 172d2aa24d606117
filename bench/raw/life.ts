/** A workflow's life as the transactions it consists of at least, and two ways to write it. */
import type { RawDatabase } from "./database.ts";
import type { Rows } from "./rows.ts";

/** What one transaction writes for one run. */
export type Act = (rows: Rows, run: number, now: number) => void;

/** The transactions of a run in their order; the first creates it. */
export type Life = readonly Act[];

/** Begins so many runs together and takes them through their first transactions; gives their ids. */
export function begin(raw: RawDatabase, life: Life, count: number): readonly number[] {
  const [create, ...others] = life;
  const runs: number[] = [];
  raw.transact(() => {
    const first = raw.rows.reserve(count);
    const now = Date.now();
    for (let run = first; run < first + count; run++) {
      create?.(raw.rows, run, now);
      runs.push(run);
    }
  });
  goOn(raw, others, runs);
  return runs;
}

/** Every act is one transaction that all these runs share. */
export function goOn(raw: RawDatabase, acts: readonly Act[], runs: readonly number[]): void {
  for (const act of acts) {
    raw.transact(() => {
      const now = Date.now();
      for (const run of runs) act(raw.rows, run, now);
    });
  }
}

/** So many runs, with at most `together` of them in one transaction. */
export function beginInGroups(raw: RawDatabase, life: Life, count: number, together: number): number[] {
  const runs: number[] = [];
  for (let left = count; left > 0; left -= together) runs.push(...begin(raw, life, Math.min(left, together)));
  return runs;
}

export function goOnInGroups(
  raw: RawDatabase,
  acts: readonly Act[],
  runs: readonly number[],
  together: number,
): void {
  for (let at = 0; at < runs.length; at += together) goOn(raw, acts, runs.slice(at, at + together));
}
