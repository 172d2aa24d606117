/** Where a random world keeps its data: the reference store, unless somebody hands in another. */
import type { Store } from "../../packages/everstep/src/store/store.ts";
import { createMemoryDatabase } from "../../packages/everstep/src/stores/memory/database.ts";
import { memory } from "../../packages/everstep/src/stores/memory/memory-store.ts";
import type { Owners } from "../../packages/everstep/src/stores/memory/owners.ts";
import { markMemory } from "./memory-mark.ts";

/** Something that can go back to what it was: `mark` says when, and what it gives goes back. */
export interface Markable {
  mark(): () => void;
}

export interface WorldData extends Markable {
  /** A handle for every process. */
  openStore(): Store;
  /** Rows of the author's own by key, with the step that wrote each; null where no world can see them. */
  readonly rows: ReadonlyMap<string, unknown> | null;
  /** Where a world decides who is dead; null where the store finds out by itself, or never does. */
  readonly owners: Owners | null;
}

export interface WorldDataOptions {
  /** The store can tell at once that a process is dead. */
  readonly ownership: boolean;
  /** Uniform in [0, 1): what is left to chance in the store, the same whenever the world is told. */
  readonly float: () => number;
}

export type OpenWorldData = (options: WorldDataOptions) => WorldData;

export const openMemoryData: OpenWorldData = ({ ownership }) => {
  const database = createMemoryDatabase({ ownership });
  return {
    openStore: () => memory({ database }),
    rows: database.authorRows,
    owners: database.owners,
    mark: () => markMemory(database),
  };
};
