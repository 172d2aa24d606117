import type { Act, Life } from "./life.ts";
import type { Value } from "./rows.ts";

export interface StepsLife {
  readonly workflow: string;
  readonly steps: number;
  readonly stepName: (n: number) => string;
  readonly result: (n: number) => string;
  readonly output: Value;
}

/** Create, then one transaction per step; the last step and the end share theirs: steps + 1 in all. */
export function stepsLife({ workflow, steps, stepName, result, output }: StepsLife): Life {
  const create: Act = (rows, runs, now) => rows.create(runs, workflow, now);
  const boundaries = Array.from({ length: steps }, (_, n): Act => {
    const step = { index: n, name: stepName(n), result: result(n) };
    const begun = stepName(n + 1);
    return (rows, runs, now) => {
      rows.step(runs, step, now);
      if (n < steps - 1) rows.advance(runs, n + 1, begun, now);
      else rows.complete(runs, n + 1, output, now);
    };
  });
  return [create, ...boundaries];
}
