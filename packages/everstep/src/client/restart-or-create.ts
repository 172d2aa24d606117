import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { planRestart } from "../engine/lifecycle.ts";
import type { RestartedOrCreated, RestartOrCreateOptions } from "../handles/options.ts";
import type { AppParts } from "./app-parts.ts";
import { type CreationDraft, createNames } from "./creation-draft.ts";
import { changeRequest, steeringNames } from "./steering.ts";
import { planCreation, submitCreation } from "./submit-creation.ts";

export const restartOrCreateNames = { ...createNames, ...steeringNames, when: true } as const;

/** Restarts the instance if it exists and fits the condition, creates it if there is none, else leaves it alone. */
export async function restartOrCreate(
  draft: CreationDraft,
  options: RestartOrCreateOptions,
  definition: WorkflowDefinition,
  parts: AppParts,
): Promise<RestartedOrCreated> {
  const { announcer, reads, group, runtime, runner } = parts;
  const request = await planCreation(draft, parts);
  const created = await submitCreation(request, definition, parts);
  if (created.kind === "created") return "created";
  const announce = announcer.restarted({ ...request, runNumber: created.runNumber }, created.status);
  const before = await reads.getInstance(request, created.runNumber);
  // Of the run that was looked at.
  const condition = { runNumber: created.runNumber, ...options.when };
  const plan = { ...planRestart(request, [], condition), ...(announce ? { announce } : {}) };
  const changed = await group.submit(changeRequest(plan, options, runtime));
  if (changed.kind !== "changed") {
    const isNewer = changed.kind === "refused" && changed.runNumber > created.runNumber;
    const looksAgain = isNewer && options.when?.runNumber === undefined;
    return looksAgain ? restartOrCreate(draft, options, definition, parts) : "unchanged";
  }
  const isRepeat = changed.runNumber <= created.runNumber;
  if (isRepeat) return "restarted";
  if (before) runner.recall(before.runId, "The instance was restarted.");
  runner.nudge();
  return "restarted";
}
