import { toStoredError } from "../authoring/stored-error.ts";
import { EverstepError } from "../model/error.ts";
import type { LeaseLoss } from "../model/observer.ts";
import type { StrayErrorKind } from "../model/runtime.ts";
import type { StepRecord, StepType, WaitingStep } from "../model/step.ts";
import type { StoredError } from "../model/value.ts";

/** The run is not this turn's any more. */
export class LeaseLostError extends EverstepError {
  readonly loss: LeaseLoss;

  constructor(loss: LeaseLoss, message: string) {
    super("STEP_INTERRUPTED", message);
    this.loss = loss;
  }
}

export function leaseLost(loss: LeaseLoss): Error {
  const message = "Another runner took over this instance; what this one does no longer counts.";
  return new LeaseLostError(loss, message);
}

export function turnOver(): Error {
  return new EverstepError("STEP_INTERRUPTED", "The workflow's turn is over.");
}

export function outerStepOver(stepName: string): Error {
  return new EverstepError("STEP_INTERRUPTED", `Step "${stepName}", which this step was part of, is over.`);
}

export function cutOffByCrash(stepName: string): Error {
  return new EverstepError(
    "STEP_INTERRUPTED",
    `Step "${stepName}" was cut off (by a crash, a shutdown, a pause or the end of the step around it) and is marked ifInterrupted: "fail", so it was not run again. ` +
      "Find out whether it took effect, then retry or restart the instance.",
  );
}

export function mutationConflict(stepName: string, cause: unknown): Error {
  const detail = cause instanceof Error ? ` (${cause.message})` : "";
  return new EverstepError(
    "MUTATION_CONFLICT",
    `The writes of step "${stepName}" violate a unique constraint of your own tables${detail}. ` +
      "The step is not retried.",
    { cause },
  );
}

export function lastWritesRefused(stepName: string, { name, message }: StoredError): string {
  return `Step "${stepName}" failed for good, and what it registered with onTerminalError was refused: ${name}: ${message.replace(/\.$/, "")}.`;
}

export function nameInFlight(stepName: string, type: StepType): Error {
  const remedy =
    type === "do"
      ? ", give steps that run at the same time different names, or set repeat: true to number them in the order they are called"
      : ", or give steps that run at the same time different names";
  return new EverstepError(
    "DUPLICATE_STEP_KEY",
    `Step "${stepName}" is still in flight. Await it before its name is used again${remedy}.`,
    { details: { step: stepName } },
  );
}

export function nameUsedBefore(stepName: string): Error {
  return new EverstepError(
    "DUPLICATE_STEP_KEY",
    `Step "${stepName}" was already used in this run, and the workflow has strictStepNames. Give every step its own name.`,
    { details: { step: stepName } },
  );
}

export function divergedAfter(stepName: string, count: number, after: string): Error {
  return new EverstepError(
    "NONDETERMINISM",
    `The code asks for step "${stepName}" (use ${count} of this name) after step "${after}", which came later when the run ` +
      "was recorded. Uses of one name are told apart by their order, so nobody can say which result is meant. Put the old " +
      "order back, let only steps decide it, or give the steps different names; then retry or restart the instance.",
    { details: { step: stepName, count, after } },
  );
}

export function otherUseRecorded(
  stepName: string,
  count: number,
  { key, count: recorded }: StepRecord,
): Error {
  return new EverstepError(
    "NONDETERMINISM",
    `The code asks for use ${count} of step "${stepName}", but what is recorded as "${key}" is use ${recorded}. ` +
      "Give the step another name, or restart the instance.",
    { details: { step: stepName, count, recorded } },
  );
}

export function workflowStalled(workflowName: string, stallTimeoutMs: number): Error {
  return new EverstepError(
    "WORKFLOW_STALLED",
    `Workflow "${workflowName}" has no step open and did not return for ${stallTimeoutMs} ms. ` +
      "It probably awaits something that is not a step; put it into step.do.",
  );
}

export function goesInCircles(workflowName: string): Error {
  return new EverstepError(
    "WORKFLOW_STALLED",
    `Workflow "${workflowName}" makes no progress: 10,000 times in a row it wrote a log line or made a call that was refused, ` +
      "with no step in between. Let its loop come to an end, or sleep in it.",
  );
}

export function asksWithoutEnd(workflowName: string): Error {
  return new EverstepError(
    "WORKFLOW_STALLED",
    `Workflow "${workflowName}" asked for steps or log lines again and again without awaiting anything, so that nothing else ` +
      "in its process had its turn. Await them in the loop, or let the loop come to its end.",
  );
}

export function unreadableStep(stepName: string, cause: unknown): Error {
  const { message } = toStoredError(cause);
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `What step "${stepName}" came to cannot be handed over: ${message}`,
    {
      cause,
      details: { step: stepName },
    },
  );
}

/** A run may have thousands of open steps. */
const namedMax = 100;

export function unfinishedSteps(names: readonly string[]): string {
  const more = names.length > namedMax ? ` and ${names.length - namedMax} more` : "";
  const list = `${names
    .slice(0, namedMax)
    .map((name) => `"${name}"`)
    .join(", ")}${more}`;
  return `The workflow function settled while ${list} was still open; what it did or would have done is not recorded. Await every step.`;
}

export function strayError({ name, message }: StoredError, kind: StrayErrorKind): string {
  return kind === "rejected"
    ? `A promise that nobody awaited was rejected: ${name}: ${message}. Await it, or catch its errors.`
    : `A callback threw where nobody could catch it: ${name}: ${message}. Catch its errors, or reject a promise.`;
}

export function attemptFailed(
  stepName: string,
  { attempts, maxAttempts, wakeAt, errors }: WaitingStep,
): string {
  const { name, message } = errors.at(-1)?.error ?? { name: "Error", message: "" };
  const of = maxAttempts === null ? "" : ` of ${maxAttempts}`;
  const next = new Date(wakeAt).toISOString();
  return `Step "${stepName}" failed (attempt ${attempts}${of}), next at ${next}: ${name}: ${message}`;
}

export function runFailed({ name, message }: StoredError): string {
  return `The run ended with an error: ${name}: ${message}`;
}
