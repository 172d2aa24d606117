/** The names and words under which code written for Cloudflare knows the engine's errors. */
import { StepTimeoutError } from "../authoring/errors.ts";
import { EverstepError } from "../model/error.ts";

/** An error thrown by a step: what the engine itself has to say gets Cloudflare's name, all else stays as it is. */
export function stepError(error: unknown): unknown {
  if (!isOurs(error)) return error;
  if (error instanceof StepTimeoutError) {
    return renamed(error, "WorkflowTimeoutError", timedOutAfter(error.timeoutMs));
  }
  return renamed(error, engineErrorName(error.code), error.message);
}

/** A wait that nobody answered; unlike ours, Cloudflare's error may be retried by a step around it. */
export function waitTimeout(timeoutMs: number): Error {
  return renamed(new Error(timedOutAfter(timeoutMs)), "WorkflowTimeoutError");
}

/** An error of a binding. Code for Cloudflare looks for the word in parentheses. */
export function bindingError(error: unknown): unknown {
  if (!isOurs(error)) return error;
  const word = bindingWords[error.code];
  return renamed(error, "WorkflowError", word === undefined ? error.message : `(${word}) ${error.message}`);
}

/** How an instance's error is called that came from the engine and not from the author's code. */
export function engineErrorName(code: string | undefined): string {
  return code === "VALUE_NOT_SERIALIZABLE" ? "DataCloneError" : "WorkflowFatalError";
}

const bindingWords: Readonly<Record<string, string>> = {
  INSTANCE_NOT_FOUND: "instance.not_found",
  INSTANCE_ID_ALREADY_EXISTS: "instance.already_exists",
  STEP_NOT_FOUND: "instance.cannot_restart",
};

function timedOutAfter(ms: number): string {
  return `Execution timed out after ${ms}ms`;
}

// An error that was given its name before, by a nested step or a binding used in one, keeps it.
function isOurs(error: unknown): error is EverstepError {
  return (
    error instanceof EverstepError && (error.name === "EverstepError" || error.name === "StepTimeoutError")
  );
}

// The same object under another name: the engine knows by it that retries are used up or would not help.
function renamed<Thrown extends Error>(error: Thrown, name: string, message = error.message): Thrown {
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  Object.defineProperty(error, "message", { value: message, configurable: true, writable: true });
  return error;
}
