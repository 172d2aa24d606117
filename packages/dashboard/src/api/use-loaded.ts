/** What a request answers, asked again from time to time while somebody looks. */
import { useCallback, useEffect, useRef, useState } from "react";
import { whenSeen } from "./attention.ts";
import { changeCount } from "./changes.ts";
import { pause } from "./pause.ts";
import { isAbort, type Problem, problemOf } from "./problem.ts";
import { useSession } from "./session.tsx";

export interface Loaded<Value> {
  /** The last answer; what was asked before under another name is not kept. */
  readonly value: Value | undefined;
  /** Why there is none, or why it is not fresh. */
  readonly problem: Problem | undefined;
  reload(): void;
}

export interface LoadTerms<Value> {
  /** Names what is asked for: another name, another answer. Null asks nothing. */
  readonly name: string | null;
  load(signal: AbortSignal): Promise<Value>;
  /** Asked again after this time; once, unless said. */
  readonly everyMs?: number | undefined;
}

export function useLoaded<Value>({ name, load, everyMs }: LoadTerms<Value>): Loaded<Value> {
  const { refused } = useSession();
  const [state, setState] = useState<{ name: string | null; value?: Value; problem?: Problem }>({ name });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again
  useEffect(() => {
    if (name === null) return;
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const value = await latest.current(leaving.signal);
        if (!leaving.signal.aborted) setState({ name, value });
      } catch (thrown) {
        if (leaving.signal.aborted || isAbort(thrown)) return;
        const problem = problemOf(thrown);
        refused(problem);
        setState((last) => ({ ...(last.name === name ? last : { name }), problem }));
      }
    };
    const keepAsking = async (): Promise<void> => {
      for (;;) {
        const since = changeCount();
        await ask();
        if (everyMs === undefined) return;
        await pause(everyMs, since, leaving.signal);
        await whenSeen(leaving.signal);
        if (leaving.signal.aborted) return;
      }
    };
    void keepAsking();
    return () => leaving.abort();
  }, [name, everyMs, refused, round]);

  const reload = useCallback(() => setRound((last) => last + 1), []);
  const isOurs = state.name === name;
  return { value: isOurs ? state.value : undefined, problem: isOurs ? state.problem : undefined, reload };
}
