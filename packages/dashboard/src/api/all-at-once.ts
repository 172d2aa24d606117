/** Does something to many, a few at a time, and says what became of each. */
import { type Problem, problemOf } from "./problem.ts";

export interface Outcome<Item> {
  readonly item: Item;
  /** Null when it was done. */
  readonly problem: Problem | null;
}

const atOnce = 8;

/** Ends early when the signal says so; what was begun is finished. `onOutcome` is told in the order things end. */
export async function doToAll<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  onOutcome: (outcome: Outcome<Item>) => void,
  signal: AbortSignal,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const item = items[next++] as Item;
      const problem = await act(item).then(
        () => null,
        (thrown: unknown) => problemOf(thrown),
      );
      onOutcome({ item, problem });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
