import { describe, expect, test } from "vitest";
import type { ErrorCode, StoreFailure } from "../../model/error.ts";
import { StoreError } from "../../model/error.ts";
import { readOptions } from "./options.ts";
import { type FailedWhile, storeFailure } from "./server/failures.ts";

const settings = readOptions("redis://user:hunter2@db.example:6380/3");

/** As the driver makes an error of an answer. */
function answer(message: string): Error {
  return Object.assign(new Error(message), {
    name: "ReplyError",
    command: { name: "auth", args: ["hunter2"] },
  });
}

function socketError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:6380`), { code });
}

describe("answers of the server (R-071, INV-43)", () => {
  test.each<[string, StoreFailure, ErrorCode]>([
    ["OOM command not allowed when used memory > 'maxmemory'.", "unavailable", "STORE_FULL"],
    [
      "ERR Error running script (call to f_1): @user_script: 10: -OOM command not allowed when used memory",
      "unavailable",
      "STORE_FULL",
    ],
    ["MISCONF Redis is configured to save RDB snapshots, but", "unavailable", "STORE_FULL"],
    ["READONLY You can't write against a read only replica.", "unavailable", "STORE_READ_ONLY"],
    ["LOADING Redis is loading the dataset in memory", "unavailable", "STORE_UNAVAILABLE"],
    ["MASTERDOWN Link with MASTER is down", "unavailable", "STORE_UNAVAILABLE"],
    ["CLUSTERDOWN The cluster is down", "unavailable", "STORE_UNAVAILABLE"],
    ["NOREPLICAS Not enough good replicas to write.", "unavailable", "STORE_UNAVAILABLE"],
    ["BUSY Redis is busy running a script.", "conflict", "STORE_BUSY"],
    ["MOVED 3999 127.0.0.1:6381", "unavailable", "STORE_UNAVAILABLE"],
    ["ASK 3999 127.0.0.1:6381", "unavailable", "STORE_UNAVAILABLE"],
    ["TRYAGAIN Multiple keys request during rehashing of slot", "unavailable", "STORE_UNAVAILABLE"],
    ["CROSSSLOT Keys in request don't hash to the same slot", "fatal", "STORE_FAILED"],
    ["NOAUTH Authentication required.", "fatal", "STORE_FAILED"],
    ["WRONGPASS invalid username-password pair", "fatal", "STORE_FAILED"],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "fatal", "STORE_FAILED"],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "fatal", "STORE_FAILED"],
    ["ERR unknown command", "fatal", "STORE_FAILED"],
    ["EVERSTEPGONE the data", "fatal", "STORE_CORRUPT"],
    ["EVERSTEPFOREIGN the key", "fatal", "STORE_NOT_OURS"],
  ])("%s", (message, failure, code) => {
    expect(storeFailure(answer(message), settings, "writing")).toMatchObject({ failure, code });
  });
});

describe("a connection that broke (R-071, INV-43)", () => {
  test.each<[string, Error, FailedWhile, StoreFailure]>([
    ["before it was there", socketError("ECONNREFUSED"), "connecting", "unavailable"],
    ["because the name is unknown", socketError("ENOTFOUND"), "connecting", "unavailable"],
    ["while it was made", new Error("Connection is closed."), "connecting", "unavailable"],
    ["before anything was sent", new Error("Stream isn't writeable and ..."), "connecting", "unavailable"],
    ["during a read", socketError("ECONNRESET"), "reading", "unavailable"],
    ["during a write", socketError("ECONNRESET"), "writing", "ambiguous"],
    ["during a write, told by the driver", new Error("Connection is closed."), "writing", "ambiguous"],
    ["or was too slow for a write", new Error("Command timed out"), "writing", "ambiguous"],
  ])("%s", (_when, error, during, failure) => {
    expect(storeFailure(error, settings, during)).toMatchObject({ failure, code: "STORE_UNAVAILABLE" });
  });

  test("for a certificate is final", () => {
    const error = socketError("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(storeFailure(error, settings, "connecting")).toMatchObject({
      failure: "fatal",
      code: "STORE_FAILED",
    });
  });
});

test("a message names the place, never the password, and carries no arguments of commands", () => {
  const failure = storeFailure(answer("WRONGPASS invalid"), settings, "connecting");
  expect(failure.message).toContain('Redis at db.example:6380, namespace "everstep"');
  expect(
    JSON.stringify([failure.message, failure.details, failure.cause, String(failure.stack)]),
  ).not.toContain("hunter2");
  expect((failure.cause as { command?: unknown }).command).toBeUndefined();
});

test("what is explained already is left alone", () => {
  const error = new StoreError("fatal", "STORE_CLOSED", "closed");
  expect(storeFailure(error, settings, "writing")).toBe(error);
});
