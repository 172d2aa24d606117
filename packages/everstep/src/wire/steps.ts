/** Steps, what their attempts failed with, and the bodies at work. */
import { stepTypes } from "../model/step.ts";
import {
  amount,
  anything,
  exactly,
  type Infer,
  instant,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";

const errorFields = {
  name: text(),
  message: text(),
  code: optional(text()),
  /** Facts for programs, of errors that have a code of ours: what a schema found, for instance. */
  details: optional(anything),
  /** Where it was thrown; in details and histories, not in a plain status. */
  stack: optional(text()),
} as const;

const errorShape = object(errorFields);
export interface WireError extends Infer<typeof errorShape> {}
export interface ErrorView extends ViewOf<typeof errorShape> {}
export const error: Schema<WireError, ErrorView> = errorShape;

const attemptErrorShape = object({
  ...errorFields,
  attempt: whole(),
  at: instant,
  /** When the next attempt was due; null after the last one. */
  retryAt: nullable(instant),
  /** The step had failed for good with it; then somebody retried it. */
  reopenedAt: optional(instant),
});
export interface WireAttemptError extends Infer<typeof attemptErrorShape> {}
export interface AttemptErrorView extends ViewOf<typeof attemptErrorShape> {}
const attemptError: Schema<WireAttemptError, AttemptErrorView> = attemptErrorShape;

const stepShape = object({
  stepKey: text(),
  name: text(),
  index: whole(-1),
  type: oneOf(stepTypes),
  status: oneOf(["waiting", "completed", "errored", "running"]),
  attempts: whole(),
  /** Starts of the body, those cut off by a crash included. */
  starts: whole(),
  maxAttempts: nullable(whole()),
  timeoutMs: nullable(amount),
  nextRetryAt: nullable(instant),
  wakeAt: nullable(instant),
  waitEventType: nullable(text()),
  topic: nullable(text()),
  parentKey: nullable(text()),
  depth: whole(),
  result: optional(anything),
  /** It has a result that is not shown: its step is marked `sensitive`. */
  sensitive: optional(exactly(true)),
  error: optional(error),
  /** Every failed attempt, oldest first. */
  errors: list(attemptError),
  createdAt: instant,
  settledAt: nullable(instant),
});
export interface WireStep extends Infer<typeof stepShape> {}
export interface StepView extends ViewOf<typeof stepShape> {}
export const step: Schema<WireStep, StepView> = named("Step", stepShape);

const runningBodyShape = object({
  stepKey: text(),
  name: text(),
  /** The number of this start, first is 1. */
  start: whole(1),
  startedAt: instant,
});
/** A body at work, whether or not its step has a record already. */
export interface WireRunningBody extends Infer<typeof runningBodyShape> {}
/** A body at work, whether or not its step has a record already. */
export interface RunningBodyView extends ViewOf<typeof runningBodyShape> {}
export const runningBody: Schema<WireRunningBody, RunningBodyView> = runningBodyShape;
