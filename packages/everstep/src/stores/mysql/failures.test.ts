import { inspect } from "node:util";
import { expect, test } from "vitest";
import { StoreError } from "../../model/error.ts";
import {
  isConnectionLost,
  isOutOfCluster,
  isServerTrouble,
  isUniqueViolation,
  storeFailure,
} from "./failures.ts";

const place = 'The database "app" on db:3306';

/** As mysql2 makes them from what the server says. */
function fromServer(errno: number, code?: string): Error {
  const error = new Error(`server message ${errno}`);
  return Object.assign(error, {
    errno,
    sqlState: "HY000",
    sql: "INSERT secret payload",
    ...(code ? { code } : {}),
  });
}

function fromSystem(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, errno: -111, syscall: "connect", fatal: true });
}

const table: readonly (readonly [Error, string, string])[] = [
  [fromServer(1213, "ER_LOCK_DEADLOCK"), "conflict", "STORE_BUSY"],
  [fromServer(1205, "ER_LOCK_WAIT_TIMEOUT"), "conflict", "STORE_BUSY"],
  [fromServer(1020, "ER_CHECKREAD"), "conflict", "STORE_BUSY"],
  [fromServer(3572, "ER_LOCK_NOWAIT"), "conflict", "STORE_BUSY"],
  [fromServer(3101), "conflict", "STORE_BUSY"],
  [fromServer(1040, "ER_CON_COUNT_ERROR"), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1203), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1053, "ER_SERVER_SHUTDOWN"), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1317, "ER_QUERY_INTERRUPTED"), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1969), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(3024), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1927), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(4031), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1047), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(2013), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("ECONNREFUSED"), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("ECONNRESET"), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("ETIMEDOUT"), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("EPIPE"), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("ENOTFOUND"), "unavailable", "STORE_UNAVAILABLE"],
  [fromSystem("PROTOCOL_CONNECTION_LOST"), "unavailable", "STORE_UNAVAILABLE"],
  [
    Object.assign(new Error("slow"), { code: "PROTOCOL_SEQUENCE_TIMEOUT" }),
    "unavailable",
    "STORE_UNAVAILABLE",
  ],
  [Object.assign(new Error("Can't add new command"), { fatal: true }), "unavailable", "STORE_UNAVAILABLE"],
  [fromServer(1021, "ER_DISK_FULL"), "unavailable", "STORE_FULL"],
  [fromServer(1114, "ER_RECORD_FILE_FULL"), "unavailable", "STORE_FULL"],
  [fromServer(1290, "ER_OPTION_PREVENTS_STATEMENT"), "unavailable", "STORE_READ_ONLY"],
  [fromServer(1836, "ER_READ_ONLY_MODE"), "unavailable", "STORE_READ_ONLY"],
  [fromServer(1062, "ER_DUP_ENTRY"), "constraint", "STORE_FAILED"],
  [fromServer(1452), "constraint", "STORE_FAILED"],
  [fromServer(1451), "constraint", "STORE_FAILED"],
  [fromServer(1048), "constraint", "STORE_FAILED"],
  [fromServer(3819), "constraint", "STORE_FAILED"],
  [fromServer(4025), "constraint", "STORE_FAILED"],
  [fromServer(1366), "invalid", "INVALID_ARGUMENT"],
  [fromServer(1406, "ER_DATA_TOO_LONG"), "invalid", "INVALID_ARGUMENT"],
  [fromServer(3988), "invalid", "INVALID_ARGUMENT"],
  [fromServer(1153, "ER_NET_PACKET_TOO_LARGE"), "too-large", "PAYLOAD_TOO_LARGE"],
  [fromServer(1301), "too-large", "PAYLOAD_TOO_LARGE"],
  [fromServer(1044), "fatal", "STORE_UNAVAILABLE"],
  [fromServer(1045, "ER_ACCESS_DENIED_ERROR"), "fatal", "STORE_UNAVAILABLE"],
  [fromServer(1049, "ER_BAD_DB_ERROR"), "fatal", "STORE_UNAVAILABLE"],
  [fromServer(1142), "fatal", "STORE_FAILED"],
  [fromServer(1146, "ER_NO_SUCH_TABLE"), "fatal", "STORE_FAILED"],
  [fromServer(1665), "fatal", "STORE_FAILED"],
  [fromServer(1064, "ER_PARSE_ERROR"), "fatal", "STORE_FAILED"],
  [fromSystem("HANDSHAKE_SSL_ERROR"), "fatal", "STORE_UNAVAILABLE"],
  [new Error("something else"), "fatal", "STORE_FAILED"],
];

test.each(table)("%s is %s, %s, also when it is wrapped (R-071, INV-43)", (error, failure, code) => {
  const wrapped = new Error("Failed query", { cause: new Error("again", { cause: error }) });
  for (const each of [error, wrapped]) {
    expect(storeFailure(each, place, "before")).toMatchObject({ name: "StoreError", failure, code });
  }
});

test("a connection that is lost while the commit is on its way leaves open what happened (INV-42)", () => {
  for (const error of [fromSystem("ECONNRESET"), fromServer(1053), fromServer(1927), fromServer(1180)]) {
    expect(storeFailure(error, place, "after")).toMatchObject({
      failure: "ambiguous",
      message: expect.stringContaining("unknown"),
    });
  }
});

test("what the server refused for certain is certain, whenever it was sent", () => {
  for (const error of [
    fromServer(1213),
    fromServer(1062),
    fromServer(1406),
    fromServer(1317),
    fromServer(1114),
  ]) {
    expect(storeFailure(error, place, "after")).toMatchObject({
      failure: (storeFailure(error, place, "before") as StoreError).failure,
    });
  }
});

test("a message says where, what to do, and the code", () => {
  const { message } = storeFailure(fromServer(1049, "ER_BAD_DB_ERROR"), place, "before");
  expect(message).toBe(
    `${place} does not exist. Create it with CREATE DATABASE. (ER_BAD_DB_ERROR: server message 1049)`,
  );
});

test("no statement, and so no payload, gets into what may be logged", () => {
  const failure = storeFailure(fromServer(1064), place, "before");
  expect(inspect(failure, { depth: 9 })).not.toContain("secret payload");
});

test("our own errors stay what they are", () => {
  const own = new StoreError("fatal", "STORE_CLOSED", "closed");
  expect(storeFailure(own, place, "after")).toBe(own);
});

test("an author's unique violation is told from other trouble", () => {
  expect(isUniqueViolation(new Error("x", { cause: fromServer(1062) }))).toBe(true);
  expect(isUniqueViolation(fromServer(1452))).toBe(false);
  expect(isServerTrouble(fromServer(1213))).toBe(true);
  expect(isServerTrouble(fromServer(1062))).toBe(false);
  // An author's own call to somewhere else that is down.
  expect(isServerTrouble(fromSystem("ECONNREFUSED"))).toBe(false);
});

test("a connection is thrown away when it is gone or in doubt, and kept otherwise", () => {
  for (const error of [
    fromSystem("EPIPE"),
    fromServer(1053),
    fromServer(1153),
    fromSystem("PROTOCOL_SEQUENCE_TIMEOUT"),
  ]) {
    expect(isConnectionLost(error)).toBe(true);
  }
  for (const error of [fromServer(1213), fromServer(1062), new Error("x")])
    expect(isConnectionLost(error)).toBe(false);
});

test("a packet that the server refused for its size is known not to have been committed", () => {
  expect(storeFailure(fromServer(1153), place, "after")).toMatchObject({ failure: "too-large" });
});

test("a node that is not in its cluster is left for another, and what it refused it did not do", () => {
  const refused = fromServer(1047);
  expect(isOutOfCluster(refused)).toBe(true);
  expect(isOutOfCluster(fromServer(1213))).toBe(false);
  expect(storeFailure(refused, place, "after")).toMatchObject({ failure: "unavailable" });
});
