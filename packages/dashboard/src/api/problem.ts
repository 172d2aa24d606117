import { EverstepError } from "everstep/client";
import { spokenProblem } from "../words/problem-words.ts";

/** What went wrong, for a person. */
export interface Problem {
  /** Stable: INSTANCE_NOT_FOUND. */
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof EverstepError) {
    const { code, message, details = {} } = thrown;
    return { code, message: spokenProblem(code, message), details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "UNEXPECTED", message, details: {} };
}

/** Nobody will look at what comes of it any more. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

/** The server is out of reach, or says that it cannot answer now. */
export function isPassing({ code, details }: Problem): boolean {
  const status = Number(details.status);
  return code === "CONNECTION_FAILED" || status >= 500 || status === 429;
}
