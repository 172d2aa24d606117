import { toStoredError } from "../authoring/stored-error.ts";
import { EverstepError } from "../model/error.ts";
import type { LeaseLoss } from "../model/observer.ts";
import type { StrayErrorKind } from "../model/runtime.ts";
import type { WaitingStep } from "../model/step.ts";
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

export function workflowStalled(workflowName: string, stallMs: number): Error {
  return new EverstepError(
    "WORKFLOW_STALLED",
    `Workflow "${workflowName}" has no step open and did not return for ${stallMs} ms. ` +
      "It probably awaits something that is not a step; put it into step.do.",
  );
}

export function goesInCircles(workflowName: string, stepName: string | null): Error {
  const asked = stepName === null ? "" : `, last for step "${stepName}", which is done`;
  return new EverstepError(
    "WORKFLOW_STALLED",
    `Workflow "${workflowName}" makes no progress: it asked 10,000 times in a row for what it has already${asked}. ` +
      "A step that runs in a loop needs repeat: true, or an index in its name.",
    stepName === null ? {} : { details: { step: stepName } },
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
