/** Ends the current run of an instance: for good, or to begin the next one. */
import { instanceTerminal } from "../engine/instance-words.ts";
import { planRestart, planTerminate, userReason } from "../engine/lifecycle.ts";
import { historyBefore } from "../engine/step-selection.ts";
import type { RestartOptions, TerminateOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceRecord, isTerminal, type RunId } from "../model/instance.ts";
import type { NamesOf } from "../model/known-names.ts";
import type { StepRecord } from "../model/step.ts";
import { fromNames } from "../wire/option-names.ts";
import { change, steeringNames, unlessRepeat } from "./steering.ts";
import type { StoredInstance } from "./stored-instance.ts";

export const terminateNames: NamesOf<TerminateOptions> = { ...steeringNames, reason: true };
export const restartNames: NamesOf<RestartOptions> = { ...steeringNames, ...fromNames };

export async function terminateInstance(instance: StoredInstance, options: TerminateOptions): Promise<void> {
  const { ref, parts } = instance;
  const { announcer, runner, endings } = parts;
  const next = { kind: "terminate", reason: userReason(options) } as const;
  const plan = planTerminate(ref, next.reason);
  const told = announcer.hearsEnds ? await instance.read() : null;
  const announce = told ? announcer.ended(told, next) : undefined;
  // Who is told of the end of a run hears of the run that ended.
  const when = told ? { ...plan.when, runNumber: told.runNumber } : plan.when;
  const outcome = await change({ ...plan, when, ...(announce ? { announce } : {}) }, options, parts);
  if (outcome.kind === "refused") {
    if (!isTerminal(outcome.status)) return terminateInstance(instance, options);
    throw instanceTerminal(ref, outcome.status, "terminated");
  }
  runner.recall(outcome.runId, "The instance was terminated.");
  if (announce) runner.fallBehind();
  // Under a key it may be a repeat, and whoever waits for a later run must not hear of the end of this one.
  const mayBeRepeat = options.idempotencyKey !== undefined && endings.isAwaited(ref);
  if (!mayBeRepeat || (await isCurrent(instance, outcome.runId))) endings.ended(ref, next);
}

async function isCurrent(instance: StoredInstance, runId: RunId): Promise<boolean> {
  return (await instance.read()).runId === runId;
}

export async function restartInstance(instance: StoredInstance, options: RestartOptions): Promise<void> {
  const { ref, parts } = instance;
  const before = await instance.read();
  // A repeat needs no such step in the run that the first one began.
  const history = await unlessRepeat(planRestart(ref, []), options, parts, () =>
    kept(instance, before, options),
  );
  if (history === "repeat") return;
  // Of the run whose history was read.
  const plan = planRestart(ref, history, { runNumber: before.runNumber });
  const announce = parts.announcer.restarted(before, before.status);
  const outcome = await change({ ...plan, ...(announce ? { announce } : {}) }, options, parts);
  if (outcome.kind === "refused") {
    if (options.from === undefined) return restartInstance(instance, options);
    throw restartedMeanwhile(instance, outcome.runNumber);
  }
  // A repeat: the run that was read is the one that began then, or a later one.
  if (outcome.runNumber <= before.runNumber) return;
  parts.runner.recall(before.runId, "The instance was restarted.");
  parts.runner.nudge();
}

/** The steps that the next run begins with. */
async function kept(
  instance: StoredInstance,
  { runId }: InstanceRecord,
  { from }: RestartOptions,
): Promise<readonly StepRecord[]> {
  return from === undefined ? [] : historyBefore(await instance.steps(runId), from);
}

function restartedMeanwhile({ ref }: StoredInstance, runNumber: number): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `Instance "${ref.instanceId}" was restarted by somebody else meanwhile (run ${runNumber}). Look again, then decide.`,
  );
}
