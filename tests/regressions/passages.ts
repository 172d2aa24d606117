/** What author code asked for and was given, passage by passage: the evidence for scenarios about replay. */
import type { StepConfig, WaitOptions, WorkflowEvent, WorkflowStep } from "everstep";

type Run = (event: WorkflowEvent, step: WorkflowStep) => unknown;

export interface Passages {
  /** For each passage, in order: "ask a", "get a", "miss a" (it failed). */
  readonly told: string[][];
  /** The function, with a step that writes everything down. */
  readonly watched: (run: Run) => Run;
}

export function watchPassages(): Passages {
  const told: string[][] = [];
  const watched =
    (run: Run): Run =>
    (event, step) => {
      const lines: string[] = [];
      told.push(lines);
      const noting = <Result>(name: string, asked: Promise<Result>): Promise<Result> => {
        lines.push(`ask ${name}`);
        return asked.then(
          (value) => {
            lines.push(`get ${name}`);
            return value;
          },
          (error: unknown) => {
            lines.push(`miss ${name}`);
            throw error;
          },
        );
      };
      return run(event, {
        do: (name: string, config: StepConfig, callback: () => unknown) =>
          noting(name, step.do(name, config, callback)),
        sleep: (name, duration) => noting(name, step.sleep(name, duration)),
        sleepUntil: (name, time) => noting(name, step.sleepUntil(name, time)),
        waitForEvent: (name: string, options: WaitOptions) => noting(name, step.waitForEvent(name, options)),
        log: step.log,
      } as WorkflowStep);
    };
  return { told, watched };
}

/** What a passage says up to the moment in which more than so many steps have come to their end. */
export function upTo(lines: readonly string[], settled: number): readonly string[] {
  let seen = 0;
  const end = lines.findIndex((line) => !line.startsWith("ask") && ++seen > settled);
  return end < 0 ? lines : lines.slice(0, end);
}
