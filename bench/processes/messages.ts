/** What the bench and its runner processes say to each other. */

export type Request =
  /** Create and run so many workflows of 5 steps here. */
  | { readonly kind: "run"; readonly prefix: string; readonly count: number; readonly atOnce: number }
  | { readonly kind: "memory" };

export type Message =
  /** The app is started and looks for work. */
  | { readonly kind: "ready" }
  | { readonly kind: "ran" }
  /** After a collection of what is not used any more. */
  | { readonly kind: "memory"; readonly rssMb: number; readonly heapMb: number }
  /** A body of the workflow `nudged` begins; see `sharedNow`. */
  | { readonly kind: "body"; readonly instanceId: string; readonly name: string; readonly at: number }
  | { readonly kind: "failed"; readonly reason: string };

/** Milliseconds of a clock that all processes of the machine share and nobody sets. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
