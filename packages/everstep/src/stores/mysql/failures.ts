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
  if (code === undefined) return unknownFailure(error, place, sent);
  const { failure, reason, sentence } = meaning(code, place);
  // What the server says of a statement is certain, also of one it did not take because of its size; a connection that
  // broke, or a COMMIT that failed, leaves it open.
  const isLost = isConnectionLost(error) && failure !== "too-large";
  const isOpen = sent === "after" && (isLost || code.number === 1180 || code.number === 3100);
  const message = isOpen ? `${sentence} Whether the last write was committed is unknown.` : sentence;
  return new StoreError(
    isOpen ? "ambiguous" : failure,
    reason,
    `${message} (${code.shown}: ${code.message})`,
    {
      cause: withoutStatement(error),
      details: { code: code.shown, ...(code.number === 1205 ? { waited: true } : {}) },
    },
  );
}

/** The number of a server's error, or the name the driver and the system give to theirs. */
export interface FoundCode {
  readonly number: number | undefined;
  readonly name: string | undefined;
  readonly shown: string;
  readonly message: string;
}

/** Authors' code and query builders wrap errors: the code counts wherever it is in the chain of causes. */
export function errorCode(error: unknown): FoundCode | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const { errno, code, fatal } = at as { errno?: unknown; code?: unknown; fatal?: unknown };
    // Errors of the system have a negative number, which differs between systems.
    const number = typeof errno === "number" && errno > 0 ? errno : undefined;
    const name = typeof code === "string" ? code : undefined;
    if (number !== undefined || (name !== undefined && lostConnection.has(name))) {
      return { number, name, shown: name ?? String(number), message: at.message };
    }
    // The driver gives no code when a connection that is closed is used.
    if (fatal === true)
      return { number, name: "PROTOCOL_CONNECTION_LOST", shown: name ?? "closed", message: at.message };
  }
  return undefined;
}

/** Nothing more can be done with the connection: it is gone, or nobody knows what it is doing. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  if (code === undefined) return false;
  return code.number === undefined ? lostConnection.has(code.name ?? "") : endsConnection.has(code.number);
}

/** A node that has left its cluster, or not joined it yet: behind a load balancer, another connection leads to another. */
export function isOutOfCluster(error: unknown): boolean {
  return errorCode(error)?.number === 1047;
}

/** It did not answer in time: whatever it was asked to do may still happen. */
export function isUnanswered(error: unknown): boolean {
  return errorCode(error)?.name === "PROTOCOL_SEQUENCE_TIMEOUT";
}

/** Somebody else has taken that key. */
export function isUniqueViolation(error: unknown): boolean {
  const number = errorCode(error)?.number;
  return number === 1062 || number === 1586 || number === 1022;
}

/** The column that shall be added has been added. */
export function isColumnThere(error: unknown): boolean {
  return errorCode(error)?.number === 1060;
}

/** The server's own doing: the author's code would fare no better or worse another time. */
export function isServerTrouble(error: unknown): boolean {
  const code = errorCode(error);
  if (code?.number === undefined) return false;
  const { failure } = meaning(code, "");
  return failure === "conflict" || failure === "unavailable";
}

export function closedFailure(place: string): StoreError {
  return new StoreError("fatal", "STORE_CLOSED", `${place} was closed. Open a new store to go on.`);
}

const lostConnection: ReadonlySet<string> = new Set([
  ...[
    "PROTOCOL_CONNECTION_LOST",
    "PROTOCOL_SEQUENCE_TIMEOUT",
    "PROTOCOL_PACKETS_OUT_OF_ORDER",
    "PROTOCOL_ERROR",
  ],
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ENOENT"],
  ...[
    "EHOSTUNREACH",
    "EHOSTDOWN",
    "ENETUNREACH",
    "ENETDOWN",
    "HANDSHAKE_SSL_ERROR",
    "HANDSHAKE_NO_SSL_SUPPORT",
  ],
]);

/** Shut down, killed, timed out, or too large a packet: the server closes the connection itself. */
const endsConnection: ReadonlySet<number> = new Set([
  1040, 1053, 1077, 1079, 1152, 1153, 1184, 1203, 1927, 4031,
]);

interface Meaning {
  readonly failure: StoreFailure;
  readonly reason: ErrorCode;
  readonly sentence: string;
}

function meaning({ number, name }: FoundCode, place: string): Meaning {
  const is = (failure: StoreFailure, reason: ErrorCode, what: string, advice = ""): Meaning => ({
    failure,
    reason,
    sentence: `${place} ${what}.${advice === "" ? "" : ` ${advice}`}`,
  });
  if (number === undefined) return connectionMeaning(name ?? "", is);
  switch (number) {
    case 1020: // ER_CHECKREAD: MariaDB, a snapshot that is out of date
    case 1205: // ER_LOCK_WAIT_TIMEOUT
    case 1213: // ER_LOCK_DEADLOCK
    case 3101: // ER_TRANSACTION_ROLLBACK_DURING_COMMIT
    case 3572: // ER_LOCK_NOWAIT
      return is(
        "conflict",
        "STORE_BUSY",
        "is being written by others at the same place; try again in a moment",
      );
    case 1040: // ER_CON_COUNT_ERROR
    case 1203: // ER_TOO_MANY_USER_CONNECTIONS
    case 1226: // ER_USER_LIMIT_REACHED
      return is("unavailable", "STORE_UNAVAILABLE", "has no connection left", "Allow more, or lower `max`.");
    case 1317: // ER_QUERY_INTERRUPTED
    case 1969: // ER_STATEMENT_TIMEOUT of MariaDB
    case 3024: // ER_QUERY_TIMEOUT of MySQL
      return is("unavailable", "STORE_UNAVAILABLE", "broke off a statement that took too long or was killed");
    case 1047: // ER_UNKNOWN_COM_ERROR, as a node of Galera answers everything meanwhile
      return is("unavailable", "STORE_UNAVAILABLE", "is a node that is not in its cluster at the moment");
    case 1021: // ER_DISK_FULL
    case 1114: // ER_RECORD_FILE_FULL
      return is("unavailable", "STORE_FULL", "cannot grow: its disk or quota is full", "Free some space.");
    case 1290: // ER_OPTION_PREVENTS_STATEMENT
    case 1792: // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    case 1836: // ER_READ_ONLY_MODE
      return is(
        "unavailable",
        "STORE_READ_ONLY",
        "is read-only",
        "Connect to the primary, not to a replica.",
      );
    case 1153: // ER_NET_PACKET_TOO_LARGE
    case 1301: // ER_WARN_ALLOWED_PACKET_OVERFLOWED
      return is(
        "too-large",
        "PAYLOAD_TOO_LARGE",
        "refused a value as too large",
        "Raise max_allowed_packet.",
      );
    case 139: // HA_ERR_TO_BIG_ROW
    case 1118: // ER_TOO_BIG_ROWSIZE
    case 1713: // ER_UNDO_RECORD_TOO_BIG
      return is("too-large", "PAYLOAD_TOO_LARGE", "cannot keep so large a value in one row");
    case 1264: // ER_WARN_DATA_OUT_OF_RANGE
    case 1366: // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
    case 1406: // ER_DATA_TOO_LONG
    case 3988: // ER_CANNOT_CONVERT_STRING
      return is(
        "invalid",
        "INVALID_ARGUMENT",
        "cannot keep a value: an id, a name or a text is too long or malformed",
      );
    case 1044: // ER_DBACCESS_DENIED_ERROR
    case 1045: // ER_ACCESS_DENIED_ERROR
    case 1130: // ER_HOST_NOT_PRIVILEGED
    case 1251: // ER_NOT_SUPPORTED_AUTH_MODE
    case 1698: // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    case 1820: // ER_MUST_CHANGE_PASSWORD
      return is(
        "fatal",
        "STORE_UNAVAILABLE",
        "refused the login",
        "Check user, password and the user's rights.",
      );
    case 1049: // ER_BAD_DB_ERROR
      return is("fatal", "STORE_UNAVAILABLE", "does not exist", "Create it with CREATE DATABASE.");
    case 1142: // ER_TABLEACCESS_DENIED_ERROR
    case 1143: // ER_COLUMNACCESS_DENIED_ERROR
    case 1227: // ER_SPECIFIC_ACCESS_DENIED_ERROR
      return is("fatal", "STORE_FAILED", "refused a statement for want of a right", neededRights);
    case 1146: // ER_NO_SUCH_TABLE
    case 1054: // ER_BAD_FIELD_ERROR
      return is("fatal", "STORE_FAILED", "has not the tables that are needed", "Call migrate() first.");
    case 1665: // ER_BINLOG_STMT_MODE_AND_ROW_ENGINE
      return is("fatal", "STORE_FAILED", "logs statements instead of rows", "Set binlog_format=ROW.");
  }
  if (constraints.has(number)) {
    return is("constraint", "STORE_FAILED", "refused a row that breaks one of its rules");
  }
  return troubles.has(number)
    ? is("unavailable", "STORE_UNAVAILABLE", "cannot be used at the moment")
    : is("fatal", "STORE_FAILED", "refused a statement");
}

type Is = (failure: StoreFailure, reason: ErrorCode, what: string, advice?: string) => Meaning;

function connectionMeaning(name: string, is: Is): Meaning {
  if (name === "PROTOCOL_SEQUENCE_TIMEOUT") {
    return is("unavailable", "STORE_UNAVAILABLE", "did not answer in time");
  }
  return name.startsWith("HANDSHAKE")
    ? is("fatal", "STORE_UNAVAILABLE", "could not be reached over an encrypted connection", "Check `ssl`.")
    : is(
        "unavailable",
        "STORE_UNAVAILABLE",
        "cannot be reached",
        "Check that the server runs and where it listens.",
      );
}

const neededRights =
  "The user needs SELECT, INSERT, UPDATE and DELETE on the tables, and CREATE, ALTER and INDEX to migrate.";

// Unique, NOT NULL, foreign key and CHECK, the last one with a number of its own in MySQL and in MariaDB.
const constraints: ReadonlySet<number> = new Set([
  1022, 1048, 1062, 1216, 1217, 1364, 1451, 1452, 1586, 3819, 4025,
]);

const troubles: ReadonlySet<number> = new Set([
  // Memory, files and the storage engine.
  ...[1026, 1030, 1037, 1038, 1041, 1135, 1180, 1637, 2008],
  // Shutdown, lost and refused connections.
  ...[1053, 1077, 1079, 1080, 1129, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 3100, 4031],
  ...[2002, 2003, 2005, 2006, 2012, 2013, 2055],
]);

function unknownFailure(error: unknown, place: string, sent: Sent): StoreError {
  const failure = sent === "after" ? "ambiguous" : "fatal";
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError(failure, "STORE_FAILED", `${place} could not be used: ${message}.`, {
    cause: withoutStatement(error),
  });
}

/** The driver keeps the statement with its error, and with it every payload: those belong in no log. */
function withoutStatement(error: unknown): unknown {
  if (error instanceof Error && "sql" in error) Reflect.deleteProperty(error, "sql");
  return error;
}
