import { expect, test } from "vitest";
import { type Mode, numbers, replayCommand, runBatch } from "./batch.ts";
import { chosen } from "./chosen.ts";
import { neverSeen } from "./sometimes.ts";
import { openerOf, type StoreName } from "./stores.ts";

interface Seeds {
  readonly mode: Mode;
  readonly store: StoreName;
  readonly title: string;
  readonly seeds: readonly number[];
  /** They reach every state that must come up now and then. */
  readonly shows: boolean;
}

/** Every one of these seeds keeps every promise, on the reference store. */
export function describeSeeds(mode: Mode, from: number, count: number, { shows = false } = {}): void {
  const seeds = [...numbers(from, count)];
  describe({ mode, store: "memory", seeds, shows, title: `${mode} seeds ${from} to ${from + count - 1}` });
}

/** Every one of those that were chosen does, on another store; of the first of them if a count is given. */
export function describeChosen(
  mode: Mode,
  store: StoreName,
  { count = chosen[mode].length, shows = false } = {},
): void {
  const seeds = chosen[mode].slice(0, count);
  describe({ mode, store, seeds, shows, title: `${count} ${mode} seeds that show what thousands do` });
}

function describe({ mode, store, seeds, shows, title }: Seeds): void {
  const where = store === "memory" ? "" : ` on ${store}`;
  const promise =
    mode === "safety"
      ? "no promise breaks while processes, connections and clocks fail"
      : "once the faults are over everything comes to its end";
  test(`${promise}${where}: ${title}`, { timeout: 600_000 }, async () => {
    const { failures, sightings } = await runBatch({ mode, seeds, openData: openerOf(store) });
    const told = failures.map(
      ({ seed, invariant, message }) => `${invariant}: ${message}\n  ${replayCommand(seed, mode, store)}`,
    );
    expect(told.slice(0, 5), `${failures.length} of ${seeds.length} seeds`).toEqual([]);
    if (shows) expect(neverSeen(sightings), "never came up (choose.ts chooses other seeds)").toEqual([]);
  });
}
