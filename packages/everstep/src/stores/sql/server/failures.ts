/** What errors of servers and drivers mean for the caller: may it be repeated, and what can a person do about it. */
import { type ErrorCode, StoreError, type StoreFailure } from "../../../model/error.ts";

/**
 * When it failed. `before`: nothing that the call wanted can have happened. `after`: the commit was on its way, so a
 * connection that is lost leaves open whether it happened.
 */
export type Sent = "before" | "after";

export interface Meaning {
  readonly failure: StoreFailure;
  readonly reason: ErrorCode;
  /** Behind the name of the database. */
  readonly what: string;
  readonly advice?: string;
}

export function is(failure: StoreFailure, reason: ErrorCode, what: string, advice?: string): Meaning {
  return { failure, reason, what, ...(advice === undefined ? {} : { advice }) };
}

export function unavailable(what: string, advice?: string): Meaning {
  return is("unavailable", "STORE_UNAVAILABLE", what, advice);
}

/** What every server may say, in words of its own; advice that is not here is the server's. */
export const meanings = {
  busy: is("conflict", "STORE_BUSY", "is being written by others at the same place; try again in a moment"),
  taken: is("constraint", "STORE_FAILED", "refused a row that breaks one of its rules"),
  full: is("unavailable", "STORE_FULL", "cannot grow: its disk or quota is full", "Free some space."),
  noDatabase: is("fatal", "STORE_UNAVAILABLE", "does not exist", "Create it with CREATE DATABASE."),
  noTables: is("fatal", "STORE_FAILED", "has not the tables that are needed", "Call migrate() first."),
  noEncryption: is(
    "fatal",
    "STORE_UNAVAILABLE",
    "could not be reached over an encrypted connection",
    "Check `ssl`.",
  ),
  refused: is("fatal", "STORE_FAILED", "refused a statement"),
  login: (advice: string) => is("fatal", "STORE_UNAVAILABLE", "refused the login", advice),
  noRight: (advice: string) => is("fatal", "STORE_FAILED", "refused a statement for want of a right", advice),
  readOnly: (advice: string) => is("unavailable", "STORE_READ_ONLY", "is read-only", advice),
  tooLarge: (what: string, advice?: string) => is("too-large", "PAYLOAD_TOO_LARGE", what, advice),
  invalid: (what: string) => is("invalid", "INVALID_ARGUMENT", `cannot keep a value: ${what}`),
} as const;

/** Codes to what they mean, from a list that says each meaning once. */
export function byCode<Code>(list: readonly (readonly [Meaning, ...Code[]])[]): ReadonlyMap<Code, Meaning> {
  return new Map(list.flatMap(([meaning, ...codes]) => codes.map((code) => [code, meaning] as const)));
}

export interface Said {
  /** What the server or the driver calls the error. */
  readonly code: string | undefined;
  readonly message: string;
  /** Whether the commit took effect is open. */
  readonly isOpen: boolean;
  /** It waited too long for a row that somebody else holds. */
  readonly hasWaited: boolean;
}

export function failureOf(
  cause: unknown,
  place: string,
  { what, ...meaning }: Meaning,
  said: Said,
): StoreError {
  const { code, isOpen } = said;
  const sentences = [
    `${place} ${what}.`,
    ...(meaning.advice === undefined ? [] : [meaning.advice]),
    ...(isOpen ? ["Whether the last write was committed is unknown."] : []),
    `(${code === undefined ? "" : `${code}: `}${said.message})`,
  ];
  return new StoreError(isOpen ? "ambiguous" : meaning.failure, meaning.reason, sentences.join(" "), {
    cause,
    details: { code: code ?? null, ...(said.hasWaited ? { waited: true } : {}) },
  });
}

export function closedFailure(place: string): StoreError {
  return new StoreError("fatal", "STORE_CLOSED", `${place} was closed. Open a new store to go on.`);
}

/**
 * The first of an error and its causes of which something is found. Authors' code and query builders wrap errors: a code
 * counts wherever it is.
 */
export function firstInChain<Found>(
  error: unknown,
  find: (error: Error) => Found | undefined,
): Found | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const found = find(at);
    if (found !== undefined) return found;
  }
  return undefined;
}
