import { errorLimits } from "../model/limits.ts";
import type { AttemptError, CompletedStep, ErroredStep, WaitingStep } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";

/** Everything about a step that does not depend on how its attempt ended. */
export type StepBase = Omit<WaitingStep, "status" | "waitsFor" | "wakeAt"> & {
  readonly wakeAt: number | null;
};

/** How an attempt ended. */
export type AttemptOutcome =
  | { readonly kind: "returned"; readonly result: EncodedValue }
  | {
      readonly kind: "threw";
      readonly error: StoredError;
      /** Whether another attempt may help at all. */
      readonly retryable: boolean;
      /** When to try again, if so. */
      readonly retryAt: number;
    };

/** What a step becomes after an attempt: completed, waiting for its next attempt, or errored. Pure. */
export function settle(
  before: StepBase,
  outcome: AttemptOutcome,
  now: number,
): WaitingStep | SettlementDraft {
  const attempts = before.attempts + 1;
  if (outcome.kind === "returned") {
    return { ...before, attempts, status: "completed", result: outcome.result, settledAt: now };
  }
  const more = outcome.retryable && (before.maxAttempts === null || attempts < before.maxAttempts);
  const failure: AttemptError = { attempt: before.starts, at: now, error: outcome.error };
  const last = more ? { ...failure, retryAt: outcome.retryAt } : failure;
  const errors = [...before.errors, last].slice(-errorLimits.attemptsKept);
  if (more) {
    return { ...before, attempts, errors, status: "waiting", waitsFor: "retry", wakeAt: outcome.retryAt };
  }
  return { ...before, attempts, errors, status: "errored", error: outcome.error, settledAt: now };
}

/** What a wait becomes that is over. */
export function completedWait(before: StepBase, result: EncodedValue, now: number): SettlementDraft {
  return { ...before, status: "completed", result, settledAt: now };
}

/** What a step becomes without another attempt. */
export function failedStep(before: StepBase, error: StoredError, now: number): SettlementDraft {
  return { ...before, status: "errored", error, settledAt: now };
}

/** A settled step before it got its place in the order of hand-over. */
export type SettlementDraft = Omit<CompletedStep, "settledIndex"> | Omit<ErroredStep, "settledIndex">;
