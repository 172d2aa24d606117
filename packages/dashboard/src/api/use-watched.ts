/** What a stream of snapshots says last. When its connection drops it is opened anew, so that the next word is fresh. */
import { useEffect, useRef, useState } from "react";
import { isAbort, type Problem, problemOf } from "./problem.ts";
import { useSession } from "./session.tsx";

export interface Watched<Value> {
  readonly value: Value | undefined;
  /** Why there is nothing, or nothing more. */
  readonly problem: Problem | undefined;
  /** The connection dropped and is being made again; `value` may be old. */
  readonly isStale: boolean;
}

export interface WatchTerms<Value> {
  /** Names what is watched: another name, another stream. Null watches nothing. */
  readonly name: string | null;
  open(terms: { readonly signal: AbortSignal; onReconnect(): void }): AsyncIterable<Value>;
}

/** Between two connections; a server that is started again is back within seconds. */
const pauseMs = { first: 300, most: 3000 } as const;

export function useWatched<Value>({ name, open }: WatchTerms<Value>): Watched<Value> {
  const { refused } = useSession();
  const [state, setState] = useState<{
    name: string | null;
    value?: Value;
    problem?: Problem;
    isStale?: boolean;
  }>({
    name,
  });
  const latest = useRef(open);
  latest.current = open;

  useEffect(() => {
    if (name === null) return;
    const leaving = new AbortController();
    const dropped = (): void => setState((last) => (last.name === name ? { ...last, isStale: true } : last));
    /** Until the connection drops. True when there is nothing more to come. */
    const readConnection = async (onValue: () => void): Promise<boolean> => {
      const connection = new AbortController();
      const signal = AbortSignal.any([leaving.signal, connection.signal]);
      try {
        for await (const value of latest.current({ signal, onReconnect: () => connection.abort() })) {
          if (leaving.signal.aborted) return true;
          onValue();
          setState({ name, value });
        }
        return true;
      } catch (thrown) {
        if (leaving.signal.aborted) return true;
        if (connection.signal.aborted || isAbort(thrown)) return false;
        const problem = problemOf(thrown);
        if (isPassing(problem)) return false;
        refused(problem);
        setState((last) => ({ ...(last.name === name ? last : { name }), problem }));
        return true;
      }
    };
    const read = async (): Promise<void> => {
      let failures = 0;
      const onValue = (): void => {
        failures = 0;
      };
      while (!(await readConnection(onValue))) {
        dropped();
        await pause(Math.min(pauseMs.most, pauseMs.first * 2 ** failures++), leaving.signal);
      }
    };
    void read();
    return () => leaving.abort();
  }, [name, refused]);

  if (state.name !== name) return { value: undefined, problem: undefined, isStale: false };
  return { value: state.value, problem: state.problem, isStale: state.isStale ?? false };
}

/** The server is out of reach, or says that it cannot answer now. */
function isPassing({ code, details }: Problem): boolean {
  const status = Number(details.status);
  return code === "CONNECTION_FAILED" || status >= 500 || status === 429;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
  });
}
