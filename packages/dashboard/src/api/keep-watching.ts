/**
 * Keeps up with a stream of snapshots while somebody looks. It has a connection of its own if there is a place for one, and
 * else asks from time to time: the first word of a stream is the whole of what there is. Of what has ended it also only asks
 * from time to time. A connection that dropped is made again, so that the next word is fresh.
 */
import { isAbort, isPassing, type Problem, problemOf } from "./problem.ts";
import type { StreamSlots } from "./stream-slots.ts";

export interface Watch<Value> {
  open(terms: { readonly signal: AbortSignal; onReconnect(): void }): AsyncIterable<Value>;
  /** Little will happen to it any more. */
  isOver?: ((value: Value) => boolean) | undefined;
  onValue(value: Value): void;
  onDropped(): void;
  /** There is nothing more after it. */
  onProblem(problem: Problem): void;
}

export interface Surroundings extends StreamSlots {
  /** Resolves when somebody looks. */
  whenSeen(signal: AbortSignal): Promise<void>;
  /** Aborted as soon as nobody looks any more. */
  whileSeen(signal: AbortSignal): AbortSignal;
  /** How often something was done here so far. */
  changeCount(): number;
  /** Is over early when something was done here after `since`. */
  pause(ms: number, since: number, signal: AbortSignal): Promise<void>;
}

/** Between two connections; a server that is started again is back within seconds. */
const reconnectMs = { first: 300, most: 3000 } as const;
/** Between two questions. */
const askMs = { going: 2000, over: 5000 } as const;

type Outcome = "looked" | "unseen" | "dropped" | "finished";

export async function keepWatching<Value>(
  watch: Watch<Value>,
  around: Surroundings,
  leaving: AbortSignal,
): Promise<void> {
  let failures = 0;
  let isOver = false;

  const read = async (isOnce: boolean): Promise<Outcome> => {
    const connection = new AbortController();
    const seen = around.whileSeen(leaving);
    const signal = AbortSignal.any([seen, connection.signal]);
    try {
      for await (const value of watch.open({ signal, onReconnect: () => connection.abort() })) {
        if (leaving.aborted) return "finished";
        failures = 0;
        isOver = watch.isOver?.(value) ?? false;
        watch.onValue(value);
        if (isOnce || isOver) return "looked";
      }
      return "finished";
    } catch (thrown) {
      if (leaving.aborted) return "finished";
      if (seen.aborted) return "unseen";
      const problem = problemOf(thrown);
      if (connection.signal.aborted || isAbort(thrown) || isPassing(problem)) return "dropped";
      watch.onProblem(problem);
      return "finished";
    }
  };

  while (!leaving.aborted) {
    await around.whenSeen(leaving);
    if (leaving.aborted) return;
    const since = around.changeCount();
    const streamed = isOver ? null : await around.withSlot(() => read(false));
    const outcome = streamed ?? (await read(true));
    if (outcome === "finished") return;
    if (outcome === "looked") await around.pause(isOver ? askMs.over : askMs.going, since, leaving);
    if (outcome !== "dropped") continue;
    watch.onDropped();
    await around.pause(Math.min(reconnectMs.most, reconnectMs.first * 2 ** failures++), since, leaving);
  }
}
