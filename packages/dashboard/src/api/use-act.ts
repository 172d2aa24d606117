/** Something a person does: under way, done or refused. */
import { useCallback, useState } from "react";
import { tellChange } from "./changes.ts";
import { type Problem, problemOf } from "./problem.ts";
import { useSession } from "./session.tsx";

export interface Act<Arguments extends unknown[]> {
  readonly isBusy: boolean;
  readonly problem: Problem | null;
  /** True when it was done. */
  run(...given: Arguments): Promise<boolean>;
  clear(): void;
}

export function useAct<Arguments extends unknown[]>(
  act: (...given: Arguments) => Promise<unknown>,
): Act<Arguments> {
  const { refused } = useSession();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = async (...given: Arguments): Promise<boolean> => {
    setBusy(true);
    setProblem(null);
    try {
      await act(...given);
      tellChange();
      return true;
    } catch (thrown) {
      const told = problemOf(thrown);
      refused(told);
      setProblem(told);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run, clear: useCallback(() => setProblem(null), []) };
}
