import { EverstepError } from "../model/error.ts";
import { type Duration, formatDuration, parseDuration } from "./duration.ts";
import { read } from "./error-object.ts";

/** Shared by every copy of the library in a process, so that an error of one copy is known to another. */
export const nonRetryable: unique symbol = Symbol.for("everstep.nonRetryable") as typeof nonRetryable;

/** Thrown in a step, it ends the step at once: no attempt follows, whatever its name. */
export class NonRetryableError extends Error {
  override readonly name: string;

  constructor(message: string, name = "NonRetryableError") {
    super(message);
    this.name = name;
  }

  get [nonRetryable](): true {
    return true;
  }
}

/**
 * True for branded errors, for those named "NonRetryableError", and for those that have one as their cause, however deep: to
 * wrap an error does not make it worth another try. A RetryAfterError on the way there asks for one. The message never counts.
 */
export function isNonRetryable(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth <= causesMax; depth++) {
    if (isMarkedNonRetryable(current)) return true;
    if (read(current, "name") === "RetryAfterError") return false;
    current = read(current, "cause");
  }
  return false;
}

/** Causes of causes that are looked at: chains can be circles. */
const causesMax = 16;

/** Whether the error says so of itself. */
export function isMarkedNonRetryable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  try {
    const { [nonRetryable]: brand, name } = error as { [nonRetryable]?: unknown; name?: unknown };
    return brand === true || name === "NonRetryableError";
  } catch {
    // A getter or proxy that throws says nothing about retrying.
    return false;
  }
}

/** What a step waited for: an event of a type, or one published to a topic. */
export interface AwaitedEvent {
  readonly eventType?: string | undefined;
  readonly topic?: string | undefined;
  /** For how long. */
  readonly timeoutMs?: number | undefined;
}

/** The event a step waited for did not come in time. */
export class WaitForEventTimeoutError extends NonRetryableError {
  readonly code = "WAIT_FOR_EVENT_TIMEOUT";
  /** The name of the waiting step. */
  readonly step: string;
  declare readonly eventType?: string;
  declare readonly topic?: string;

  constructor(step: string, awaited: AwaitedEvent) {
    super(`WAIT_FOR_EVENT_TIMEOUT: ${missed(step, awaited)}`, "WaitForEventTimeoutError");
    this.step = step;
    if (awaited.eventType !== undefined) this.eventType = awaited.eventType;
    if (awaited.topic !== undefined) this.topic = awaited.topic;
  }
}

function missed(step: string, { eventType, topic, timeoutMs }: AwaitedEvent): string {
  const type = eventType === undefined ? "" : ` of type "${eventType}"`;
  const what = topic === undefined ? `no event${type}` : `nothing from topic "${topic}"`;
  const within = timeoutMs === undefined ? "in time" : `within ${formatDuration(timeoutMs)}`;
  return `step "${step}" got ${what} ${within}.`;
}

/** An attempt took longer than its timeout. The next attempt may do better, so it is retried. */
export class StepTimeoutError extends EverstepError {
  override readonly name = "StepTimeoutError";
  /** The name of the step. */
  readonly step: string;
  readonly timeoutMs: number;
  /** The number of the attempt, first is 1. */
  readonly attempt: number;

  constructor(step: string, timeoutMs: number, attempt: number) {
    super(
      "STEP_TIMEOUT",
      `Step "${step}" timed out after ${formatDuration(timeoutMs)} (attempt ${attempt}).`,
    );
    this.step = step;
    this.timeoutMs = timeoutMs;
    this.attempt = attempt;
  }
}

/** Thrown in a step, it says when the next attempt is welcome: after a duration, or at a date. */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  /** Milliseconds, or the moment itself. */
  readonly retryAfter: number | Date;

  constructor(message: string, retryAfter: Duration | Date) {
    super(message);
    this.retryAfter =
      retryAfter instanceof Date ? checkDate(retryAfter) : parseDuration(retryAfter, "retryAfter");
  }
}

function checkDate(date: Date): Date {
  if (Number.isNaN(date.getTime()))
    throw new EverstepError(
      "INVALID_DURATION",
      "retryAfter is an invalid Date; use a valid one or a duration.",
    );
  return date;
}
