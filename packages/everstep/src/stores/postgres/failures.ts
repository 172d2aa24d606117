/** What an error of the server or the driver means for the caller: may it be repeated, and what can a person do about it. */
import { type ErrorCode, EverstepError, StoreError, type StoreFailure } from "../../model/error.ts";

/**
 * When it failed. `before`: nothing that the call wanted can have happened. `after`: the commit was on its way, so a
 * connection that is lost leaves open whether it happened.
 */
export type Sent = "before" | "after";

export function storeFailure(error: unknown, place: string, sent: Sent): EverstepError {
  if (error instanceof EverstepError) return error;
  const code = errorCode(error);
  const { failure, reason, what, advice } = isRefusedSetting(error) ? noSessions : meaning(code);
  // What the server says of a statement is certain; a connection that broke leaves the commit open.
  const isOpen = sent === "after" && (isConnectionLost(error) || code === "40003");
  const sentences = [
    `${place} ${what}.`,
    ...(advice === undefined ? [] : [advice]),
    ...(isOpen ? ["Whether the last write was committed is unknown."] : []),
    `(${code === undefined ? "" : `${code}: `}${messageOf(error)})`,
  ];
  return new StoreError(isOpen ? "ambiguous" : failure, reason, sentences.join(" "), {
    cause: error,
    details: { code: code ?? null, ...(code === "55P03" ? { waited: true } : {}) },
  });
}

/**
 * SQLSTATE, or the name the system gives to its errors. Authors' code and query builders wrap errors: the code counts
 * wherever it is in the chain of causes.
 */
export function errorCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const { code } = at as { readonly code?: unknown };
    if (typeof code === "string" && (isSqlState(code) || isSystemCode(code))) return code;
  }
  return undefined;
}

/** Nothing more can be done with the connection: it is gone, or nobody knows what it is doing. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  // The driver has no code for a connection that ended, or did not answer in time.
  if (code === undefined || !isSqlState(code)) return true;
  return /^(08|57P0[1235]|25P03)/.test(code);
}

/** Somebody else has taken that key. */
export function isUniqueViolation(error: unknown): boolean {
  const code = errorCode(error);
  return code === "23505" || code === "23P01";
}

/** The server's own doing, not that of the author's statements: another time they may well succeed. */
export function isServerTrouble(error: unknown): boolean {
  const code = errorCode(error);
  if (code === undefined) return isUnanswered(error);
  return /^(08|53|58|40|57P|55P03|25P03|25006)/.test(code) && isSqlState(code);
}

/** The driver has no code for it. A statement that only takes long is ended by the server before that. */
function isUnanswered(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1)
    if (at.message === "Query read timeout") return true;
  return false;
}

export function closedFailure(place: string): StoreError {
  return new StoreError("fatal", "STORE_CLOSED", `${place} was closed. Open a new store to go on.`);
}

const systemCodes = /^(E[A-Z]{3,}|ERR_[A-Z_]+|[A-Z]+(_[A-Z]+)+)$/;

function isSystemCode(code: string): boolean {
  return systemCodes.test(code);
}

/** Five signs; EPIPE and its like are the system's. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

/** PgBouncer, of what a client asks for at the start; it has one code for nearly everything. */
function isRefusedSetting(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/.test(error.message);
}

interface Meaning {
  readonly failure: StoreFailure;
  readonly reason: ErrorCode;
  /** Behind the name of the database. */
  readonly what: string;
  readonly advice?: string;
}

function meaning(code: string | undefined): Meaning {
  if (code === undefined || !isSqlState(code)) return connectionMeaning(code ?? "");
  return states[code] ?? classes[code.slice(0, 2)] ?? is("fatal", "STORE_FAILED", "refused a statement");
}

function is(failure: StoreFailure, reason: ErrorCode, what: string, advice?: string): Meaning {
  return { failure, reason, what, ...(advice === undefined ? {} : { advice }) };
}

const busy = is(
  "conflict",
  "STORE_BUSY",
  "is being written by others at the same place; try again in a moment",
);
const stopping = is(
  "unavailable",
  "STORE_UNAVAILABLE",
  "is shutting down, starting or closed the connection",
);
const login = is("fatal", "STORE_UNAVAILABLE", "refused the login", "Check user, password and pg_hba.conf.");
const noTables = is("fatal", "STORE_FAILED", "has not the tables that are needed", "Call migrate() first.");
const noSessions = is(
  "fatal",
  "STORE_FAILED",
  "is reached through a pooler that keeps no settings of a session",
  "Set `pooled: true`, or leave `pooled` out.",
);
const noPrepared = is(
  "fatal",
  "STORE_FAILED",
  "does not keep prepared statements",
  "Behind a pooler that hands out connections per transaction set `pooled: true`.",
);
const unreachable = is(
  "unavailable",
  "STORE_UNAVAILABLE",
  "cannot be reached or does not answer",
  "Check that the server runs and where it listens.",
);

const states: Readonly<Record<string, Meaning>> = {
  "25006": is(
    "unavailable",
    "STORE_READ_ONLY",
    "is read-only",
    "Connect to the primary, not to a standby, and leave default_transaction_read_only off.",
  ),
  "26000": noPrepared,
  "42P05": noPrepared,
  "3D000": is("fatal", "STORE_UNAVAILABLE", "does not exist", "Create it with CREATE DATABASE."),
  "3F000": noTables,
  "40003": is("ambiguous", "STORE_UNAVAILABLE", "could not say whether a write was committed"),
  "42501": is(
    "fatal",
    "STORE_FAILED",
    "refused a statement for want of a right",
    "The user needs USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables; to migrate also CREATE " +
      "on the schema, and CREATE on the database where the schema is not there yet.",
  ),
  "42703": noTables,
  "42P01": noTables,
  "53100": is("unavailable", "STORE_FULL", "cannot grow: its disk or quota is full", "Free some space."),
  "53300": is(
    "unavailable",
    "STORE_UNAVAILABLE",
    "has no connection left",
    "Raise max_connections, or lower `max`.",
  ),
  "55P03": is("conflict", "STORE_BUSY", "let a write wait too long for a row that somebody else holds"),
  "57014": is(
    "unavailable",
    "STORE_UNAVAILABLE",
    "broke off a statement that took too long or was cancelled",
  ),
  "57P01": stopping,
  "57P02": stopping,
  "57P03": stopping,
  "57P05": stopping,
  "25P03": stopping,
};

/** By the first two signs. */
const classes: Readonly<Record<string, Meaning>> = {
  "08": unreachable,
  "22": is("invalid", "INVALID_ARGUMENT", "cannot keep a value: it is malformed or out of range"),
  "23": is("constraint", "STORE_FAILED", "refused a row that breaks one of its rules"),
  "28": login,
  "40": busy,
  "53": is("unavailable", "STORE_UNAVAILABLE", "has run out of memory or another resource"),
  "54": is("too-large", "PAYLOAD_TOO_LARGE", "cannot keep so large a value"),
  "55": busy,
  "57": stopping,
  "58": is("unavailable", "STORE_UNAVAILABLE", "had trouble with its files", "Look into the server's log."),
  XX: is("fatal", "STORE_CORRUPT", "failed inside or is damaged", "Look into the server's log."),
};

function connectionMeaning(code: string): Meaning {
  return /CERT|TLS|SSL|ALTNAME|SIGNATURE|ISSUER/.test(code)
    ? is("fatal", "STORE_UNAVAILABLE", "could not be reached over an encrypted connection", "Check `ssl`.")
    : unreachable;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
