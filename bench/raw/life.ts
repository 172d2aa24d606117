/** A workflow's life as the transactions it consists of at least, and two ways to write it. */
import type { RawStore } from "./raw-store.ts";
import type { Rows, Runs } from "./rows.ts";

/** What one transaction writes for each of these runs. */
export type Act = (rows: Rows, runs: Runs, now: number) => void;

/** The transactions of a run in their order; the first creates it. */
export type Life = readonly Act[];

/** Begins so many runs together and takes them through their first transactions; gives their ids. */
export async function begin(raw: RawStore, life: Life, count: number, connection = 0): Promise<Runs> {
  const [create, ...others] = life;
  let runs: Runs = [];
  await raw.transact((rows) => {
    const first = raw.reserve(count);
    runs = Array.from({ length: count }, (_, n) => first + n);
    create?.(rows, runs, Date.now());
  }, connection);
  await goOn(raw, others, runs, connection);
  return runs;
}

/** Every act is one transaction that all these runs share. */
export async function goOn(raw: RawStore, acts: readonly Act[], runs: Runs, connection = 0): Promise<void> {
  for (const act of acts) await raw.transact((rows) => act(rows, runs, Date.now()), connection);
}

export interface Grouping {
  /** Runs that share a transaction. */
  readonly together: number;
  /** Groups under way at the same time, each on a connection of its own; 1 unless told otherwise. */
  readonly connections?: number;
}

/** So many runs in groups. */
export async function beginInGroups(
  raw: RawStore,
  life: Life,
  count: number,
  { together, connections = 1 }: Grouping,
): Promise<Runs> {
  const runs: number[] = [];
  let left = count;
  await onEach(connections, async (connection) => {
    while (left > 0) {
      const size = Math.min(left, together);
      left -= size;
      runs.push(...(await begin(raw, life, size, connection)));
    }
  });
  return runs;
}

export async function goOnInGroups(
  raw: RawStore,
  acts: readonly Act[],
  runs: Runs,
  { together }: Grouping,
): Promise<void> {
  for (let at = 0; at < runs.length; at += together) await goOn(raw, acts, runs.slice(at, at + together));
}

export async function onEach(connections: number, act: (connection: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: connections }, (_, connection) => act(connection)));
}
