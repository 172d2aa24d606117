/** What a stream of snapshots says last. */
import { useEffect, useRef, useState } from "react";
import { whenSeen, whileSeen } from "./attention.ts";
import { changeCount } from "./changes.ts";
import { keepWatching, type Surroundings, type Watch } from "./keep-watching.ts";
import { pause } from "./pause.ts";
import type { Problem } from "./problem.ts";
import { useSession } from "./session.tsx";
import { slots } from "./stream-slots.ts";

export interface Watched<Value> {
  readonly value: Value | undefined;
  /** Why there is nothing, or nothing more. */
  readonly problem: Problem | undefined;
  /** The connection dropped and is being made again; `value` may be old. */
  readonly isStale: boolean;
}

export interface WatchTerms<Value> extends Pick<Watch<Value>, "open" | "isOver"> {
  /** Names what is watched: another name, another stream. Null watches nothing. */
  readonly name: string | null;
}

const surroundings: Surroundings = {
  ...slots,
  whenSeen,
  whileSeen,
  changeCount,
  pause,
};

export function useWatched<Value>(terms: WatchTerms<Value>): Watched<Value> {
  const { name } = terms;
  const { refused } = useSession();
  const [state, setState] = useState<{
    name: string | null;
    value?: Value;
    problem?: Problem;
    isStale?: boolean;
  }>({
    name,
  });
  const latest = useRef(terms);
  latest.current = terms;

  useEffect(() => {
    if (name === null) return;
    const leaving = new AbortController();
    const watch: Watch<Value> = {
      open: (given) => latest.current.open(given),
      isOver: (value) => latest.current.isOver?.(value) ?? false,
      // What was asked for again and is as it was is not drawn again.
      onValue: (value) =>
        setState((last) => {
          const isSame = last.name === name && JSON.stringify(last.value) === JSON.stringify(value);
          return isSame && !last.isStale && !last.problem ? last : { name, value };
        }),
      onDropped: () => setState((last) => (last.name === name ? { ...last, isStale: true } : last)),
      onProblem(problem) {
        refused(problem);
        setState((last) => ({ ...(last.name === name ? last : { name }), problem }));
      },
    };
    void keepWatching(watch, surroundings, leaving.signal);
    return () => leaving.abort();
  }, [name, refused]);

  if (state.name !== name) return { value: undefined, problem: undefined, isStale: false };
  return { value: state.value, problem: state.problem, isStale: state.isStale ?? false };
}
