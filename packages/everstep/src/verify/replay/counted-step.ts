import type { WorkflowStep } from "../../authoring/workflow-step.ts";

/** A `step` whose calls are counted: once there are too many, none is answered any more, so that no loop goes on for ever. */
export function countedStep(step: WorkflowStep, callsMax: number, onTooMany: () => void): WorkflowStep {
  let calls = 0;
  const counted = <Given extends unknown[], Result>(
    call: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result>) => {
    return (...given) => {
      if (++calls <= callsMax) return call(...given);
      onTooMany();
      return new Promise(() => {});
    };
  };
  const { log } = step;
  return {
    do: counted(step.do as (...given: unknown[]) => Promise<unknown>) as WorkflowStep["do"],
    sleep: counted(step.sleep),
    sleepUntil: counted(step.sleepUntil),
    waitForEvent: counted(step.waitForEvent) as WorkflowStep["waitForEvent"],
    log: {
      debug: counted(log.debug),
      info: counted(log.info),
      warn: counted(log.warn),
      error: counted(log.error),
    },
  };
}
