import type { EncodedValue, StoredError } from "./value.ts";

export type StepType = "do" | "sleep" | "waitForEvent";
export const stepTypes: readonly StepType[] = ["do", "sleep", "waitForEvent"];

export type StepStatus = "waiting" | "completed" | "errored";

/** A step as people name it: by its key, or by the name it has at the top level. Nested ones have their path as key. */
export type StepSelector =
  | string
  | { readonly name: string; readonly count?: number; readonly type?: StepType };

/** What a waiting step waits for: its time, its next attempt, or an event (until its time). */
export type WaitsFor = "timer" | "retry" | "event";

interface StepIdentity {
  /** Order of first start; unique and growing within a run, gaps are legal. */
  readonly index: number;
  readonly key: string;
  readonly name: string;
  /** Which occurrence of the name this is, first is 1. */
  readonly count: number;
  readonly type: StepType;
  readonly parentKey: string | null;
  readonly depth: number;
  readonly createdAt: number;
}

interface StepFacts {
  /** Attempts that were recorded as failed or completed. */
  readonly attempts: number;
  /** Starts of the body, those cut off by a crash included. */
  readonly starts: number;
  /** null: without limit. */
  readonly maxAttempts: number | null;
  readonly timeoutMs: number | null;
  /** Every failed attempt, oldest first (bounded). */
  readonly errors: readonly AttemptError[];
  readonly eventType: string | null;
  readonly topic: string | null;
  /** When the wait is over at the latest; kept after it ended. */
  readonly wakeAt: number | null;
}

export interface AttemptError {
  readonly attempt: number;
  readonly at: number;
  readonly error: StoredError;
  /** When the next attempt was due; missing after the last one. */
  readonly retryAt?: number;
  /** The step had failed for good with it; then somebody asked for one more attempt. */
  readonly reopenedAt?: number;
}

export interface WaitingStep extends StepIdentity, StepFacts {
  readonly status: "waiting";
  readonly waitsFor: WaitsFor;
  readonly wakeAt: number;
}

export interface CompletedStep extends StepIdentity, StepFacts {
  readonly status: "completed";
  readonly result: EncodedValue;
  /** Order of hand-over to the workflow function; replay follows it. */
  readonly settledIndex: number;
  readonly settledAt: number;
}

export interface ErroredStep extends StepIdentity, StepFacts {
  readonly status: "errored";
  readonly error: StoredError;
  readonly settledIndex: number;
  readonly settledAt: number;
}

export type SettledStep = CompletedStep | ErroredStep;
export type StepRecord = WaitingStep | SettledStep;
