/** What a process that was killed left behind, by what was recorded before and after. */
import type { InstanceWithSteps, WireStep } from "everstep/client";

export type Snapshot = Pick<InstanceWithSteps, "steps" | "running">;

export interface Survival {
  /** Completed before the process was killed. */
  readonly completed: number;
  /** Those of them that are as they were: not run again. */
  readonly kept: number;
  /** Bodies that were cut off and have begun again, by name. */
  readonly again: readonly { readonly name: string; readonly start: number }[];
}

export function survivalOf(before: Snapshot, after: Snapshot): Survival {
  const now = new Map(after.steps.map((step) => [step.stepKey, step]));
  const completed = before.steps.filter(({ status }) => status === "completed");
  const kept = completed.filter((step) => isSame(step, now.get(step.stepKey)));
  const again = before.running.flatMap(({ stepKey, name, start }) => {
    const step = now.get(stepKey);
    const latest = after.running.find((body) => body.stepKey === stepKey)?.start ?? step?.starts ?? 0;
    // One that failed by itself before the process died was not cut off; and it began again as the next, however often since.
    const hasFailed = step?.errors.some(({ attempt }) => attempt === start) ?? false;
    return latest > start && !hasFailed ? [{ name, start: start + 1 }] : [];
  });
  return { completed: completed.length, kept: kept.length, again };
}

function isSame(before: WireStep, after: WireStep | undefined): boolean {
  return after?.starts === before.starts && after.settledAt === before.settledAt;
}
