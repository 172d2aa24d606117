import { runnerDefaults } from "../model/limits.ts";
import { historyBytes } from "./history-bytes.ts";
import type { RunHistory, RunRead, Store } from "./store.ts";

/**
 * Histories of many runs, read in portions of bounded size, until as much was read as there is room for. The first run
 * is always read; those that there was no room for are given as `unread`.
 */
export async function readInPortions(
  store: Pick<Store, "readRuns">,
  requests: readonly RunRead[],
  room: number = Number.POSITIVE_INFINITY,
): Promise<readonly RunHistory[]> {
  const found: RunHistory[] = [];
  let left = requests;
  let free = room;
  while (left.length > 0 && (free > 0 || left === requests)) {
    const portion = await store.readRuns(left, Math.max(1, Math.min(free, runnerDefaults.readBytesMax)));
    const unread = new Set<RunRead["runId"]>();
    for (const history of portion) {
      if (history.kind === "unread") unread.add(history.runId);
      else found.push(history);
      free -= historyBytes(history);
    }
    left = left.filter(({ runId }) => unread.has(runId));
  }
  return [...found, ...left.map(({ runId }): RunHistory => ({ kind: "unread", runId }))];
}
