/** How a failure is told over HTTP: a status, and a JSON problem with a code that stays the same. */
import { type ErrorCode, EverstepError, StoreError } from "../model/error.ts";
import type { Runtime } from "../model/runtime.ts";
import type { WireProblem } from "../wire/index.ts";
import type { Issue } from "../wire/schema.ts";

/** What is not listed is a mistake of the caller's: 400. */
const statuses: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: 401,
  AUTHORIZATION_NOT_CONFIGURED: 403,
  FORBIDDEN: 403,
  HOST_NOT_ALLOWED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  RUNNER_TICK_DISABLED: 403,
  ROUTE_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  INSTANCE_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  INSTANCE_ID_ALREADY_EXISTS: 409,
  INSTANCE_TERMINAL: 409,
  INSTANCE_NOT_TERMINAL: 409,
  INSTANCE_NOT_ERRORED: 409,
  FAILED_STEP_NOT_RETRYABLE: 409,
  IDEMPOTENCY_KEY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EVENT_BUFFER_FULL: 429,
  HISTORY_UNREADABLE: 500,
  STORE_FAILED: 500,
  STORE_CORRUPT: 500,
  STORE_NOT_OURS: 500,
  SCHEMA_TOO_NEW: 500,
  DRIVER_MISSING: 500,
  RUNTIME_UNSUPPORTED: 500,
  INTERNAL_ERROR: 500,
  STORE_UNAVAILABLE: 503,
  STORE_BUSY: 503,
  STORE_FULL: 503,
  STORE_READ_ONLY: 503,
  STORE_CLOSED: 503,
  APP_STOPPED: 503,
  RUNNER_NOT_AVAILABLE: 503,
  TOO_MANY_STREAMS: 503,
  TOO_MANY_LARGE_ANSWERS: 503,
};

/** When to try again, in seconds, where trying again may help. */
const retryAfter: Partial<Record<ErrorCode, number>> = {
  EVENT_BUFFER_FULL: 10,
  STORE_UNAVAILABLE: 2,
  STORE_BUSY: 1,
  APP_STOPPED: 5,
  TOO_MANY_STREAMS: 10,
  TOO_MANY_LARGE_ANSWERS: 3,
};

export function statusOf(code: ErrorCode): number {
  return statuses[code] ?? 400;
}

export function problemResponse(
  error: EverstepError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const after = retryAfter[error.code];
  return new Response(JSON.stringify(problemOf(error)), {
    status: statusOf(error.code),
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...(after === undefined ? {} : { "retry-after": String(after) }),
      ...headers,
    },
  });
}

/** As JSON says it. */
export function problemOf({ code, message, details }: EverstepError): WireProblem {
  return {
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      docs: `node_modules/everstep/docs/errors.md#${code.toLowerCase()}`,
    },
  };
}

export interface Telling {
  readonly runtime: Pick<Runtime, "uuid">;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * What a caller may know of a failure: everything of its own mistakes, nothing of the inside. What it is not told, the host
 * is, under a reference that both have.
 */
export function toldOf(error: unknown, { runtime, onProblem }: Telling): EverstepError {
  if (error instanceof EverstepError && !isInside(error)) return error;
  const reference = runtime.uuid();
  const why = error instanceof Error ? error.message : String(error);
  const cause = { cause: error };
  onProblem(new EverstepError("INTERNAL_ERROR", `A request failed (${reference}): ${why}`, cause));
  const more = `The log of the server says more under ${reference}.`;
  const details = { reference };
  if (error instanceof StoreError && error.failure === "too-large") {
    const message = `The store takes no value that large. Keep large data elsewhere and pass a reference. ${more}`;
    return new EverstepError("PAYLOAD_TOO_LARGE", message, { details });
  }
  if (error instanceof StoreError && statusOf(error.code) === 503) {
    const message = `The store does not serve at the moment (${error.code}). Try again. ${more}`;
    return new EverstepError(error.code, message, { details });
  }
  return new EverstepError("INTERNAL_ERROR", `Something failed that should not. ${more}`, { details });
}

/** Of the store and the code that runs, not of the request. */
function isInside(error: EverstepError): boolean {
  return error instanceof StoreError || statusOf(error.code) === 500;
}

/** The first of the issues in words, all of them for programs. */
export function invalid(what: string, issues: readonly Issue[]): EverstepError {
  const [first] = issues;
  const where = first?.path ? `${what}: "${first.path}" ${first.message}` : `${what} ${first?.message}`;
  const more = issues.length > 1 ? `, and ${issues.length - 1} more (see details)` : "";
  return new EverstepError("INVALID_ARGUMENT", `${where}${more}.`, {
    details: { issues: issues.slice(0, 20) },
  });
}
