/** What is being done to many instances. It goes on while the person looks at another view, and its summary waits for them. */
import { useCallback, useSyncExternalStore } from "react";
import { tellChange } from "../api/changes.ts";
import { useSession } from "../api/session.tsx";
import { type BulkProgress, runBulk } from "./bulk.ts";
import type { BulkAction, BulkItem } from "./bulk-actions.ts";

export interface Bulk {
  readonly action: BulkAction;
  readonly progress: BulkProgress;
}

/** Browsers have six connections for an origin: some are left for what the page shows, and for the host's own pages. */
const atOnce = 4;

let current: Bulk | null = null;
let stopping = new AbortController();
const listeners = new Set<() => void>();

function set(next: Bulk | null): void {
  current = next;
  for (const each of listeners) each();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useBulk() {
  const { client } = useSession();
  const bulk = useSyncExternalStore(subscribe, () => current);
  const start = useCallback(
    async (action: BulkAction, items: readonly BulkItem[]): Promise<void> => {
      if (current?.progress.state === "running") return;
      stopping = new AbortController();
      await runBulk({
        items,
        act: (item) => action.act(client, item),
        atOnce,
        stop: stopping.signal,
        onProgress: (progress) => set({ action, progress }),
      });
      tellChange();
    },
    [client],
  );
  return { bulk, start, stop: () => stopping.abort(), dismiss: () => set(null) };
}
