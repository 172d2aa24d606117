import { retryAfterOf } from "../authoring/classify.ts";
import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { parseDuration } from "../authoring/duration.ts";
import { isNonRetryable } from "../authoring/errors.ts";
import { markSensitive } from "../authoring/sensitive.ts";
import { fromStoredError, toStoredError } from "../authoring/stored-error.ts";
import type { RetryDelay, StepContext } from "../authoring/workflow-step.ts";
import { type ErrorCode, EverstepError } from "../model/error.ts";
import { stepDefaults, timeMax } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import { retryDelayMs } from "./backoff.ts";
import type { Body, BodyOutcome } from "./body.ts";
import type { AttemptOutcome } from "./settle.ts";
import type { StepOptions } from "./step-options.ts";

/**
 * What the end of a body means for its step: a value that can be kept, or an error with the time of the next attempt.
 * Only an author's own delay function makes the answer a promise.
 */
export function attemptOutcome(
  outcome: BodyOutcome,
  body: Body,
  context: StepContext,
  definition: WorkflowDefinition,
  runtime: Runtime,
): AttemptOutcome | Promise<AttemptOutcome> {
  const { call } = body;
  if (!outcome.ok) return failure(outcome.error, body, context, definition, runtime);
  try {
    const encoded = encodeValue(outcome.value, `step "${call.name}" result`);
    checkBytes(encoded, definition.limits.maxResultBytes, `step "${call.name}" result`);
    const { isSensitive } = call.spec.options as StepOptions;
    const result = isSensitive ? markSensitive(encoded) : encoded;
    return { kind: "returned", result };
  } catch (error) {
    return failure(error, body, context, definition, runtime);
  }
}

function failure(
  thrown: unknown,
  body: Body,
  context: StepContext,
  definition: WorkflowDefinition,
  runtime: Runtime,
): AttemptOutcome | Promise<AttemptOutcome> {
  const now = runtime.now();
  const error = toStoredError(thrown);
  const options = body.call.spec.options as StepOptions;
  const final: AttemptOutcome = { kind: "threw", error, retryable: false, retryAt: now };
  const failed = (body.call.record?.attempts ?? 0) + 1;
  if (isFinal(thrown) || (options.maxAttempts !== null && failed >= options.maxAttempts)) return final;
  const category = classified(thrown, definition, now);
  if (category?.kind === "client-error" || category?.kind === "validation") return final;
  const retryAfterMs = category?.retryAfterMs ?? retryAfterOf(thrown, now);
  if (retryAfterMs !== undefined)
    return { kind: "threw", error, retryable: true, retryAt: timeAfter(now, retryAfterMs) };
  const later = (baseMs: number): AttemptOutcome => ({
    kind: "threw",
    error,
    retryable: true,
    retryAt: timeAfter(now, retryDelayMs(options, baseMs, failed)),
  });
  if (typeof options.delay === "number") return later(options.delay);
  const reason = isInstance(thrown, Error) ? thrown : fromStoredError(error);
  const asked = askForDelay(options.delay, { ctx: context, error: reason });
  // A delay function that throws, gives nonsense or takes too long ends the retries: there is no delay left to trust.
  return withTimeout(runtime, stepDefaults.delayFunctionMs, asked).then(
    (delayMs) => (delayMs === timedOut ? final : later(delayMs)),
    () => final,
  );
}

async function askForDelay(delay: RetryDelay, failure: Parameters<RetryDelay>[0]): Promise<number> {
  return parseDuration(await delay(failure), "retry delay");
}

/** Only what can be used of a classifier's answer: one with a mistake in it must not decide the fate of a step. */
function classified(thrown: unknown, definition: WorkflowDefinition, now: number) {
  try {
    const category = definition.options.classify?.(thrown, now);
    if (typeof category !== "object" || category === null) return undefined;
    const { kind, retryAfterMs } = category as { readonly kind: unknown; readonly retryAfterMs?: unknown };
    const usable = typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs);
    return { kind, retryAfterMs: usable ? Math.max(0, Math.ceil(retryAfterMs)) : undefined };
  } catch {
    return undefined;
  }
}

/** No later than a Date can say: a store must be able to keep it, and people to read it. */
function timeAfter(now: number, delayMs: number): number {
  return Math.min(now + delayMs, timeMax);
}

/** Whatever was thrown may be made to throw when it is looked at. */
function isInstance<Kind extends Error>(
  thrown: unknown,
  kind: abstract new (...given: never[]) => Kind,
): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** Mistakes in the code itself: trying again cannot help. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  "DUPLICATE_STEP_KEY",
  "EVENT_PAYLOAD_INVALID",
  "INVALID_DURATION",
  "INVALID_EVENT_TYPE",
  "INVALID_INSTANCE_ID",
  "INVALID_LOG",
  "INVALID_STEP_CONFIG",
  "INVALID_STEP_NAME",
  "INVALID_TOPIC",
  "INVALID_WORKFLOW_NAME",
  "MUTATION_CONFLICT",
  "MUTATION_INVALID",
  "PAYLOAD_TOO_LARGE",
  "STEP_LIMIT_EXCEEDED",
  "HISTORY_LIMIT_EXCEEDED",
  "STEP_TYPE_MISMATCH",
  "UNKNOWN_EVENT_TYPE",
  "VALUE_NOT_SERIALIZABLE",
  "WORKFLOW_NOT_FOUND",
  "WORKFLOW_PARAMS_INVALID",
]);

function isFinal(thrown: unknown): boolean {
  return isNonRetryable(thrown) || (isInstance(thrown, EverstepError) && finalCodes.has(thrown.code));
}
