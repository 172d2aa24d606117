/** What the bench and the process of a compared library say to each other. */
import type { StoreName } from "../grounds/ground.ts";
import type { ComparedSizes, Figures } from "../workload.ts";

/** The first message to the process. */
export interface Task {
  /** Addresses of modules: the adapter, and the one that loads what was installed. */
  readonly adapter: string;
  readonly loader: string | null;
  readonly store: StoreName;
  readonly room: { readonly url: string; readonly prefix: string };
  readonly sizes: ComparedSizes;
}

export type Telling =
  | { readonly kind: "opened"; readonly settings: string }
  | { readonly kind: "measuring"; readonly what: string }
  | { readonly kind: "measured"; readonly figures: Figures }
  /** One measurement that could not be made; the others go on. */
  | { readonly kind: "lacks"; readonly what: string; readonly reason: string }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly reason: string };
