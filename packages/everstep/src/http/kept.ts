import type { Runtime } from "../model/runtime.ts";

/** What is shown is kept for this many times as long as it took to find out. */
const times = 10;

/**
 * An answer that many ask for: found out once for all who ask at the same time, and kept so long that finding it out
 * takes at most a tenth of the time, however often it is asked for.
 */
export function kept<Value>(
  runtime: Pick<Runtime, "monotonic">,
  find: () => Promise<Value>,
): () => Promise<Value> {
  let known: Promise<Value> | null = null;
  let keptUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (known && runtime.monotonic() < keptUntil) return known;
    const begun = runtime.monotonic();
    keptUntil = Number.POSITIVE_INFINITY;
    const finding = find();
    known = finding;
    finding.then(
      () => {
        const now = runtime.monotonic();
        keptUntil = now + times * (now - begun);
      },
      () => {
        known = null;
      },
    );
    return finding;
  };
}

/** The same for an answer that may be out of date by so much, a failure included: whoever asks, and however often. */
export function keptFor<Value>(
  runtime: Pick<Runtime, "monotonic">,
  ms: number,
  find: () => Promise<Value>,
): () => Promise<Value> {
  let known: Promise<Value> | null = null;
  let foundAt = 0;
  return () => {
    const now = runtime.monotonic();
    if (known && now - foundAt < ms) return known;
    foundAt = now;
    known = find();
    return known;
  };
}
