/** What an error of the server or the driver means for the caller: may it be repeated, and what can a person do about it. */
import { EverstepError } from "../../model/error.ts";
import {
  byCode,
  failureOf,
  firstInChain,
  is,
  type Meaning,
  meanings,
  type Sent,
  unavailable,
} from "../sql/server/failures.ts";

export function storeFailure(error: unknown, place: string, sent: Sent): EverstepError {
  if (error instanceof EverstepError) return error;
  const code = errorCode(error);
  return failureOf(error, place, isRefusedSetting(error) ? noSessions : meaning(code), {
    code,
    message: messageOf(error),
    // What the server says of a statement is certain; a connection that broke leaves the commit open.
    isOpen: sent === "after" && (isConnectionLost(error) || code === "40003"),
    hasWaited: code === "55P03",
  });
}

/** SQLSTATE, or the name the system gives to its errors. */
export function errorCode(error: unknown): string | undefined {
  return firstInChain(error, (at) => {
    const { code } = at as { readonly code?: unknown };
    return typeof code === "string" && (isSqlState(code) || systemCodes.test(code)) ? code : undefined;
  });
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
  return firstInChain(error, ({ message }) => message === "Query read timeout" || undefined) ?? false;
}

const systemCodes = /^(E[A-Z]{3,}|ERR_[A-Z_]+|[A-Z]+(_[A-Z]+)+)$/;

/** Five signs; EPIPE and its like are the system's. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

/** PgBouncer, of what a client asks for at the start; it has one code for nearly everything. */
function isRefusedSetting(error: unknown): boolean {
  return error instanceof Error && /unsupported startup parameter/.test(error.message);
}

function meaning(code: string | undefined): Meaning {
  if (code !== undefined && isSqlState(code)) {
    return states.get(code) ?? classes.get(code.slice(0, 2)) ?? meanings.refused;
  }
  return /CERT|TLS|SSL|ALTNAME|SIGNATURE|ISSUER/.test(code ?? "") ? meanings.noEncryption : unreachable;
}

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
const noCommit = is("ambiguous", "STORE_UNAVAILABLE", "could not say whether a write was committed");
const held = is("conflict", "STORE_BUSY", "let a write wait too long for a row that somebody else holds");
const damaged = is("fatal", "STORE_CORRUPT", "failed inside or is damaged", "Look into the server's log.");
const unreachable = unavailable(
  "cannot be reached or does not answer",
  "Check that the server runs and where it listens.",
);
const stopping = unavailable("is shutting down, starting or closed the connection");

const states = byCode<string>([
  [
    meanings.readOnly(
      "Connect to the primary, not to a standby, and leave default_transaction_read_only off.",
    ),
    "25006",
  ],
  [noPrepared, "26000", "42P05"],
  [meanings.noDatabase, "3D000"],
  [meanings.noTables, "3F000", "42703", "42P01"],
  [noCommit, "40003"],
  [
    meanings.noRight(
      "The user needs USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables; to migrate also CREATE " +
        "on the schema, and CREATE on the database where the schema is not there yet.",
    ),
    "42501",
  ],
  [meanings.full, "53100"],
  [unavailable("has no connection left", "Raise max_connections, or lower `max`."), "53300"],
  [held, "55P03"],
  [unavailable("broke off a statement that took too long or was cancelled"), "57014"],
  [stopping, "57P01", "57P02", "57P03", "57P05", "25P03"],
]);

/** By the first two signs. */
const classes = byCode<string>([
  [unreachable, "08"],
  [meanings.invalid("it is malformed or out of range"), "22"],
  [meanings.taken, "23"],
  [meanings.login("Check user, password and pg_hba.conf."), "28"],
  [meanings.busy, "40", "55"],
  [unavailable("has run out of memory or another resource"), "53"],
  [meanings.tooLarge("cannot keep so large a value"), "54"],
  [stopping, "57"],
  [unavailable("had trouble with its files", "Look into the server's log."), "58"],
  [damaged, "XX"],
]);

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
