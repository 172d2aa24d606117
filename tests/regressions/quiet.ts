import { EverstepError } from "everstep";

/** Options of an app that tells the test of its problems, not the console. That test servers are not durable is none. */
export function quiet(problems: unknown[] = []) {
  return {
    onNotice: () => {},
    onProblem(problem: unknown) {
      if (problem instanceof EverstepError && problem.code === "STORE_UNSAFE") return;
      problems.push(problem);
    },
  };
}
