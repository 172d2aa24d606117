/** Every code an EverstepError can carry. Codes are stable; sentences may improve. */
export type ErrorCode =
  // definitions and input
  | "INVALID_WORKFLOW_NAME"
  | "INVALID_WORKFLOW_DEFINITION"
  | "DUPLICATE_WORKFLOW_NAME"
  | "INVALID_INSTANCE_ID"
  | "INVALID_STEP_NAME"
  | "INVALID_STEP_CONFIG"
  | "INVALID_EVENT_TYPE"
  | "INVALID_TOPIC"
  | "INVALID_DURATION"
  | "INVALID_LOG"
  | "INVALID_CURSOR"
  | "INVALID_ARGUMENT"
  | "INVALID_HISTORY"
  | "HISTORY_VERSION_UNKNOWN"
  | "HISTORY_OF_OTHER_WORKFLOW"
  | "WORKFLOW_PARAMS_INVALID"
  | "WORKFLOW_OUTPUT_INVALID"
  | "EVENT_PAYLOAD_INVALID"
  | "UNKNOWN_EVENT_TYPE"
  | "VALUE_NOT_SERIALIZABLE"
  | "PAYLOAD_TOO_LARGE"
  | "BATCH_TOO_LARGE"
  // instances
  | "WORKFLOW_NOT_FOUND"
  | "INSTANCE_NOT_FOUND"
  | "INSTANCE_ID_ALREADY_EXISTS"
  | "INSTANCE_TERMINAL"
  | "INSTANCE_NOT_TERMINAL"
  | "INSTANCE_NOT_ERRORED"
  | "FAILED_STEP_NOT_RETRYABLE"
  | "STEP_NOT_FOUND"
  | "RUN_NOT_FOUND"
  | "IDEMPOTENCY_KEY_CONFLICT"
  | "EVENT_BUFFER_FULL"
  // inside a run
  | "DUPLICATE_STEP_KEY"
  | "STEP_TYPE_MISMATCH"
  | "NONDETERMINISM"
  | "STEP_LIMIT_EXCEEDED"
  | "HISTORY_LIMIT_EXCEEDED"
  | "STEP_TIMEOUT"
  | "STEP_INTERRUPTED"
  | "WAIT_FOR_EVENT_TIMEOUT"
  | "MUTATION_CONFLICT"
  | "MUTATION_INVALID"
  | "UNKNOWN_ERROR"
  | "WORKFLOW_STALLED"
  | "CRASH_LOOP"
  | "HISTORY_UNREADABLE"
  | "INTERRUPTED_BY_RESTART"
  // store and app
  | "STORE_UNAVAILABLE"
  | "STORE_BUSY"
  | "STORE_FULL"
  | "STORE_READ_ONLY"
  | "STORE_FILE_GONE"
  | "STORE_UNSAFE"
  | "DRIVER_MISSING"
  | "STORE_CORRUPT"
  | "STORE_NOT_OURS"
  | "STORE_CLOSED"
  | "STORE_FAILED"
  | "SCHEMA_TOO_NEW"
  | "RUNTIME_UNSUPPORTED"
  | "APP_STOPPED"
  | "DISPATCHER_FAILED"
  // over http
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "INVALID_BODY"
  | "BODY_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "AUTHORIZATION_NOT_CONFIGURED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "HOST_NOT_ALLOWED"
  | "ORIGIN_NOT_ALLOWED"
  | "RUNNER_TICK_DISABLED"
  | "RUNNER_NOT_AVAILABLE"
  | "TOO_MANY_STREAMS"
  | "TOO_MANY_LARGE_ANSWERS"
  | "INTERNAL_ERROR"
  | "CONNECTION_FAILED"
  | "ANSWER_NOT_UNDERSTOOD";

export interface EverstepErrorOptions {
  readonly cause?: unknown;
  /** Facts for programs: what was asked for, what was found. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What happened, why, and what to do, with a code that stays the same. */
export class EverstepError extends Error {
  override readonly name: string = "EverstepError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: EverstepErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/**
 * How a store call failed, which decides what may be done about it:
 * `conflict` and `unavailable` did not happen and may be repeated, `ambiguous` may have happened and may be repeated
 * because every request carries its own id, `constraint` was refused by the author's own rows, the rest are final.
 */
export type StoreFailure =
  | "conflict"
  | "unavailable"
  | "ambiguous"
  | "constraint"
  | "invalid"
  | "too-large"
  | "fatal";

export class StoreError extends EverstepError {
  override readonly name = "StoreError";
  readonly failure: StoreFailure;

  constructor(failure: StoreFailure, code: ErrorCode, message: string, options: EverstepErrorOptions = {}) {
    super(code, message, options);
    this.failure = failure;
  }

  get retryable(): boolean {
    return this.failure === "conflict" || this.failure === "unavailable" || this.failure === "ambiguous";
  }
}
