/** Why the instance is not moving: asked again when it changed, and every few seconds while it does not. */
import type { InstanceClient, InstanceWithSteps, WireWhy } from "everstep/client";
import { useEffect, useRef, useState } from "react";
import { whenSeen } from "../../api/attention.ts";
import { changeCount } from "../../api/changes.ts";
import { pause } from "../../api/pause.ts";
import { isAbort, type Problem, problemOf } from "../../api/problem.ts";
import { useSession } from "../../api/session.tsx";

export interface Why {
  readonly why: WireWhy | null;
  /** It was asked before the last change; the new answer is on its way. */
  readonly isOld: boolean;
  readonly problem: Problem | null;
}

const askMs = 3000;
/** An instance that moves all the time is not asked more often than this. */
const leastMs = 400;

export function useWhy(instance: InstanceClient | null, value: InstanceWithSteps | null): Why {
  const { refused } = useSession();
  const [state, setState] = useState<{ of?: InstanceWithSteps; why?: WireWhy; problem?: Problem }>({});
  const askedAt = useRef(0);

  useEffect(() => {
    if (!instance || !value) return;
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      askedAt.current = Date.now();
      try {
        const why = await instance.why({ signal: leaving.signal });
        if (!leaving.signal.aborted) setState({ of: value, why });
      } catch (thrown) {
        if (leaving.signal.aborted || isAbort(thrown)) return;
        const problem = problemOf(thrown);
        refused(problem);
        setState({ of: value, problem });
      }
    };
    const keepAsking = async (): Promise<void> => {
      let waitMs = Math.max(0, askedAt.current + leastMs - Date.now());
      while (!leaving.signal.aborted) {
        await pause(waitMs, changeCount(), leaving.signal);
        await whenSeen(leaving.signal);
        if (!leaving.signal.aborted) await ask();
        waitMs = askMs;
      }
    };
    void keepAsking();
    return () => leaving.abort();
  }, [instance, value, refused]);

  // What is said of another status is wrong by now.
  const isWrong = state.why?.status !== value?.details.status;
  return {
    why: isWrong ? null : (state.why ?? null),
    isOld: state.of !== value,
    problem: state.problem ?? null,
  };
}
