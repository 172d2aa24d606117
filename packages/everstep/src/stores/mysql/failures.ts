/** What an error of the server or the driver means for the caller: may it be repeated, and what can a person do about it. */
import { EverstepError, StoreError } from "../../model/error.ts";
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
  if (code === undefined) return unknownFailure(error, place, sent);
  const { number, shown, message } = code;
  const means = meaning(code);
  // What the server says of a statement is certain, also of one it did not take because of its size; a connection that
  // broke, or a COMMIT that failed, leaves it open.
  const isLost = isConnectionLost(error) && means.failure !== "too-large";
  const isOpen = sent === "after" && (isLost || number === 1180 || number === 3100);
  const said = { code: shown, message, isOpen, hasWaited: number === 1205 };
  return failureOf(withoutStatement(error), place, means, said);
}

/** The number of a server's error, or the name the driver and the system give to theirs. */
export interface FoundCode {
  readonly number: number | undefined;
  readonly name: string | undefined;
  readonly shown: string;
  readonly message: string;
}

export function errorCode(error: unknown): FoundCode | undefined {
  return firstInChain(error, (at) => {
    const { errno, code, fatal } = at as { errno?: unknown; code?: unknown; fatal?: unknown };
    const { message } = at;
    // Errors of the system have a negative number, which differs between systems.
    const number = typeof errno === "number" && errno > 0 ? errno : undefined;
    const name = typeof code === "string" ? code : undefined;
    if (number !== undefined || (name !== undefined && lostConnection.has(name))) {
      return { number, name, shown: name ?? String(number), message };
    }
    // The driver gives no code when a connection that is closed is used.
    return fatal === true
      ? { number, name: "PROTOCOL_CONNECTION_LOST", shown: name ?? "closed", message }
      : undefined;
  });
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

/** The server has taken the whole transaction back, not only the statement (ER_LOCK_DEADLOCK, ER_CHECKREAD). */
export function endsTransaction(error: unknown): boolean {
  const number = errorCode(error)?.number;
  return number === 1213 || number === 1020;
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
  const { failure } = meaning(code);
  return failure === "conflict" || failure === "unavailable";
}

const lostConnection: ReadonlySet<string> = new Set([
  ...["PROTOCOL_CONNECTION_LOST", "PROTOCOL_SEQUENCE_TIMEOUT", "PROTOCOL_PACKETS_OUT_OF_ORDER"],
  ...["PROTOCOL_ERROR", "HANDSHAKE_SSL_ERROR", "HANDSHAKE_NO_SSL_SUPPORT"],
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ETIMEDOUT", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "ENOENT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
]);

/** Shut down, killed, timed out, or too large a packet: the server closes the connection itself. */
const endsConnection: ReadonlySet<number> = new Set([
  1040, 1053, 1077, 1079, 1152, 1153, 1184, 1203, 1927, 4031,
]);

function meaning({ number, name = "" }: FoundCode): Meaning {
  if (number !== undefined) return numbers.get(number) ?? meanings.refused;
  if (name === "PROTOCOL_SEQUENCE_TIMEOUT") return unavailable("did not answer in time");
  return name.startsWith("HANDSHAKE") ? meanings.noEncryption : unreachable;
}

const unreachable = unavailable("cannot be reached", "Check that the server runs and where it listens.");
const logsStatements = is(
  "fatal",
  "STORE_FAILED",
  "logs statements instead of rows",
  "Set binlog_format=ROW.",
);
const broken = unavailable("cannot be used at the moment");

const numbers = byCode<number>([
  // ER_CHECKREAD (MariaDB, a snapshot that is out of date), ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK,
  // ER_TRANSACTION_ROLLBACK_DURING_COMMIT, ER_LOCK_NOWAIT
  [meanings.busy, 1020, 1205, 1213, 3101, 3572],
  // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED
  [unavailable("has no connection left", "Allow more, or lower `max`."), 1040, 1203, 1226],
  // ER_QUERY_INTERRUPTED, ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL
  [unavailable("broke off a statement that took too long or was killed"), 1317, 1969, 3024],
  // ER_UNKNOWN_COM_ERROR, as a node of Galera answers everything meanwhile
  [unavailable("is a node that is not in its cluster at the moment"), 1047],
  // ER_DISK_FULL, ER_RECORD_FILE_FULL
  [meanings.full, 1021, 1114],
  // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
  [meanings.readOnly("Connect to the primary, not to a replica."), 1290, 1792, 1836],
  // ER_NET_PACKET_TOO_LARGE, ER_WARN_ALLOWED_PACKET_OVERFLOWED
  [meanings.tooLarge("refused a value as too large", "Raise max_allowed_packet."), 1153, 1301],
  // HA_ERR_TO_BIG_ROW, ER_TOO_BIG_ROWSIZE, ER_UNDO_RECORD_TOO_BIG
  [meanings.tooLarge("cannot keep so large a value in one row"), 139, 1118, 1713],
  // ER_WARN_DATA_OUT_OF_RANGE, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, ER_DATA_TOO_LONG, ER_CANNOT_CONVERT_STRING
  [meanings.invalid("an id, a name or a text is too long or malformed"), 1264, 1366, 1406, 3988],
  // ER_DBACCESS_DENIED_ERROR, ER_ACCESS_DENIED_ERROR, ER_HOST_NOT_PRIVILEGED, ER_NOT_SUPPORTED_AUTH_MODE,
  // ER_ACCESS_DENIED_NO_PASSWORD_ERROR, ER_MUST_CHANGE_PASSWORD
  [meanings.login("Check user, password and the user's rights."), 1044, 1045, 1130, 1251, 1698, 1820],
  // ER_BAD_DB_ERROR
  [meanings.noDatabase, 1049],
  // ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR
  [
    meanings.noRight(
      "The user needs SELECT, INSERT, UPDATE and DELETE on the tables, and CREATE, ALTER and INDEX to migrate.",
    ),
    ...[1142, 1143, 1227],
  ],
  // ER_NO_SUCH_TABLE, ER_BAD_FIELD_ERROR
  [meanings.noTables, 1146, 1054],
  // ER_BINLOG_STMT_MODE_AND_ROW_ENGINE
  [logsStatements, 1665],
  // Unique, NOT NULL, foreign key and CHECK, the last one with a number of its own in MySQL and in MariaDB.
  [meanings.taken, 1022, 1048, 1062, 1216, 1217, 1364, 1451, 1452, 1586, 3819, 4025],
  // Memory, files and the storage engine.
  [broken, 1026, 1030, 1037, 1038, 1041, 1135, 1180, 1637, 2008],
  // Shutdown, lost and refused connections.
  [broken, 1053, 1077, 1079, 1080, 1129, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 3100, 4031],
  [broken, 2002, 2003, 2005, 2006, 2012, 2013, 2055],
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
