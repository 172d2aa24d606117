/** Where a small world keeps its data: any store that answers without waiting for anything but itself. */
import type { Store } from "../../../packages/everstep/src/store/store.ts";
import type { AuthorRowsHandle } from "../../../packages/everstep/src/stores/memory/author-rows.ts";
import { createMemoryDatabase } from "../../../packages/everstep/src/stores/memory/database.ts";
import { memory } from "../../../packages/everstep/src/stores/memory/memory-store.ts";

export interface SmallData {
  /** A handle for every process. */
  openStore(): Store;
  /** A row of an author's own in the transaction at hand; fails when the key is there. */
  insertRow(tx: unknown, key: string): void;
  /** The keys of all of them. */
  rows(): Iterable<string>;
  /** Nobody needs it any more. */
  close?(): Promise<void>;
}

export function memoryData(): SmallData {
  const database = createMemoryDatabase();
  return {
    openStore: () => memory({ database }),
    insertRow: (tx, key) => (tx as AuthorRowsHandle).insert(key, true),
    rows: () => database.authorRows.keys(),
  };
}
