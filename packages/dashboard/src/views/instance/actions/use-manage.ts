/** Steering an instance from one place of the page: one thing at a time. */
import { useState } from "react";
import type { Problem } from "../../../api/problem.ts";
import { useAct } from "../../../api/use-act.ts";
import { useSay } from "./said.tsx";

export interface Manage {
  /** What is under way. */
  readonly busy: string | null;
  readonly problem: Problem | null;
  /** True when it was done, which is then said. */
  run(name: string, done: string, act: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

export function useManage(): Manage {
  const say = useSay();
  const [name, setName] = useState("");
  const act = useAct((perform: () => Promise<unknown>) => perform());
  return {
    busy: act.isBusy ? name : null,
    problem: act.problem,
    clear: act.clear,
    async run(next, done, perform) {
      setName(next);
      const isDone = await act.run(perform);
      if (isDone) say(done);
      return isDone;
    },
  };
}
