import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { formatDuration } from "../authoring/duration.ts";
import { issueText, plainIssues, validateWith } from "../authoring/standard-schema.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { Next, Ending as RunOutcome } from "../model/boundary.ts";
import { EverstepError } from "../model/error.ts";
import type { TerminationReason } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";

/** How a turn ended, as its runner hears it. */
export type Ending =
  | { readonly kind: "suspended"; readonly dueAt: number }
  | { readonly kind: "ended"; readonly next: Next }
  | { readonly kind: "paused" }
  | { readonly kind: "lost"; readonly reason: Error };

export type { RunOutcome };

/** What a settled workflow function comes to: complete with a value that can be kept, or errored. */
export function endOfRun(
  outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: unknown },
  definition: WorkflowDefinition,
  isExhausted: (error: unknown) => boolean,
): RunOutcome | Promise<RunOutcome> {
  if (!outcome.ok) {
    return { kind: "error", error: toStoredError(outcome.error), deadLetter: isExhausted(outcome.error) };
  }
  const schema = definition.options.output;
  if (!schema) return completeWith(outcome.value, definition);
  // A schema that breaks its own contract must not keep the run from ending.
  return validateWith(schema, outcome.value)
    .then((checked) => {
      if ("value" in checked) return completeWith(checked.value, definition);
      const issues = checked.issues.map(issueText);
      return failed(
        new EverstepError(
          "WORKFLOW_OUTPUT_INVALID",
          `What workflow "${definition.name}" returned does not fit its output schema: ${issues.join("; ")}.`,
          { details: { issues: plainIssues(checked.issues) } },
        ),
      );
    })
    .catch(failed);
}

function completeWith(value: unknown, definition: WorkflowDefinition): RunOutcome {
  try {
    const output = encodeValue(value, "output");
    checkBytes(output, definition.limits.maxOutputBytes, "output");
    return { kind: "complete", output };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): RunOutcome {
  return { kind: "error", error: toStoredError(error), deadLetter: false };
}

export interface TimeLimit {
  readonly at: number;
  readonly reason: TerminationReason;
}

/** When a run must be over: its own deadline or its workflow's longest run, whichever comes first. */
export function timeLimitOf(definition: WorkflowDefinition, claim: Claim): TimeLimit | null {
  const { maxRunMs } = definition;
  const runEndsAt = maxRunMs === null ? Number.POSITIVE_INFINITY : claim.startedAt + maxRunMs;
  const deadlineAt = claim.deadlineAt ?? Number.POSITIVE_INFINITY;
  if (runEndsAt === Number.POSITIVE_INFINITY && deadlineAt === Number.POSITIVE_INFINITY) return null;
  if (deadlineAt <= runEndsAt) {
    return { at: deadlineAt, reason: { source: "deadline", message: "The instance's deadline passed." } };
  }
  const message = `The run took longer than ${formatDuration(maxRunMs as number)}.`;
  return { at: runEndsAt, reason: { source: "maxRunDuration", message } };
}

export function suspendedTooLong(maxSuspendMs: number): TerminationReason {
  const message = `The run was suspended for longer than ${formatDuration(maxSuspendMs)}.`;
  return { source: "maxSuspendDuration", message };
}
