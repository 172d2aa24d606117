import { expect, test } from "vitest";
import { type Mode, numbers, replayCommand, runBatch } from "./batch.ts";
import { neverSeen } from "./sometimes.ts";
import { openerOf, type StoreName } from "./stores.ts";

/** Every one of these seeds keeps every promise. `shows`: they reach every state that must come up now and then. */
export function describeSeeds(
  mode: Mode,
  from: number,
  count: number,
  { shows = false, store = "memory" as StoreName } = {},
): void {
  const where = store === "memory" ? "" : ` on ${store}`;
  const promise =
    mode === "safety"
      ? "no promise breaks while processes, connections and clocks fail"
      : "once the faults are over everything comes to its end";
  test(`${promise}${where}: ${mode} seeds ${from} to ${from + count - 1}`, { timeout: 600_000 }, async () => {
    const { failures, sightings } = await runBatch({
      mode,
      seeds: numbers(from, count),
      openData: openerOf(store),
    });
    const told = failures.map(
      ({ seed, invariant, message }) => `${invariant}: ${message}\n  ${replayCommand(seed, mode, store)}`,
    );
    expect(told.slice(0, 5), `${failures.length} of ${count} seeds`).toEqual([]);
    if (shows) expect(neverSeen(sightings), "never came up").toEqual([]);
  });
}
