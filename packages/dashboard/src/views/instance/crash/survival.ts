/** What a process that was killed left behind, by what was recorded before and after. */
import type { InstanceWithSteps, WireStep } from "everstep/client";
import { counted } from "../../../words/numbers.ts";
import { timeOf } from "../../../words/time.ts";

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

/** What is offered: nothing where no process is at it and none is to come back to it. */
export function demoOf(
  { details, meta }: Pick<InstanceWithSteps, "details" | "meta">,
  now: number,
): string | null {
  const isScheduled = meta.startedAt === null && meta.dueAt !== null && timeOf(meta.dueAt) > now;
  if (details.status === "active" && !isScheduled) return "See it survive: kill the process that runs this.";
  if (details.status === "waiting") return "See it survive: kill the process while this waits.";
  return null;
}

export function survivalText({ completed, kept, again }: Survival, hasEnded: boolean): string {
  const goesOn = hasEnded ? "It went on in a new process" : "It goes on in a new process";
  const had = `${counted(completed, "step")} had completed before the kill`;
  if (kept < completed) {
    const gone =
      completed === 1
        ? "it ran again or is gone"
        : `${completed - kept} of them ran again or ${completed - kept === 1 ? "is" : "are"} gone`;
    return `${goesOn}. ${had}; ${gone}. Look at the timeline.`;
  }
  const none = completed === 1 ? "it did not run again" : "none of them ran again";
  const steps = completed === 0 ? "No step had completed before the kill." : `${had}; ${none}.`;
  const cut = again.map(({ name, start }) => ` "${name}" was cut off and began again (start ${start}).`);
  return `${goesOn}. ${steps}${cut.join("")}`;
}
