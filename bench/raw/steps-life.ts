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
  const create: Act = (rows, run, now) => rows.create(run, workflow, now);
  const boundaries = Array.from({ length: steps }, (_, n): Act => {
    const name = stepName(n);
    const text = result(n);
    const begun = stepName(n + 1);
    if (n < steps - 1)
      return (rows, run, now) => {
        rows.step(run, n, name, text, now);
        rows.advance(run, n + 1, begun, now);
      };
    return (rows, run, now) => {
      rows.step(run, n, name, text, now);
      rows.complete(run, n + 1, output, now);
    };
  });
  return [create, ...boundaries];
}
