import { afterAll, describe, expect, test } from "vitest";
import { postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { EverstepError, type StoreError } from "../../model/error.ts";
import { errorCode, isUniqueViolation, storeFailure } from "./failures.ts";
import { readOptions } from "./options.ts";
import { PostgresDatabase } from "./session.ts";

const place = 'The database "app" on db:5432';

function coded(code: string, message = "as the server put it"): Error {
  return Object.assign(new Error(message), { code });
}

/** As query builders and authors' code do it. */
function wrapped(error: Error): Error {
  return new Error("Failed query: insert into ...", { cause: new Error("in between", { cause: error }) });
}

const table: readonly (readonly [code: string, failure: string, reason: string])[] = [
  ["40001", "conflict", "STORE_BUSY"],
  ["40P01", "conflict", "STORE_BUSY"],
  ["55P03", "conflict", "STORE_BUSY"],
  ["57P01", "unavailable", "STORE_UNAVAILABLE"],
  ["57P02", "unavailable", "STORE_UNAVAILABLE"],
  ["57P03", "unavailable", "STORE_UNAVAILABLE"],
  ["57014", "unavailable", "STORE_UNAVAILABLE"],
  ["25P03", "unavailable", "STORE_UNAVAILABLE"],
  ["08000", "unavailable", "STORE_UNAVAILABLE"],
  ["08006", "unavailable", "STORE_UNAVAILABLE"],
  ["08P01", "unavailable", "STORE_UNAVAILABLE"],
  ["53100", "unavailable", "STORE_FULL"],
  ["53200", "unavailable", "STORE_UNAVAILABLE"],
  ["53300", "unavailable", "STORE_UNAVAILABLE"],
  ["53400", "unavailable", "STORE_UNAVAILABLE"],
  ["58030", "unavailable", "STORE_UNAVAILABLE"],
  ["23505", "constraint", "STORE_FAILED"],
  ["23502", "constraint", "STORE_FAILED"],
  ["23P01", "constraint", "STORE_FAILED"],
  ["22021", "invalid", "INVALID_ARGUMENT"],
  ["22P05", "invalid", "INVALID_ARGUMENT"],
  ["22003", "invalid", "INVALID_ARGUMENT"],
  ["54000", "too-large", "PAYLOAD_TOO_LARGE"],
  ["25006", "unavailable", "STORE_READ_ONLY"],
  ["42501", "fatal", "STORE_FAILED"],
  ["42P01", "fatal", "STORE_FAILED"],
  ["3F000", "fatal", "STORE_FAILED"],
  ["26000", "fatal", "STORE_FAILED"],
  ["28P01", "fatal", "STORE_UNAVAILABLE"],
  ["28000", "fatal", "STORE_UNAVAILABLE"],
  ["3D000", "fatal", "STORE_UNAVAILABLE"],
  ["XX001", "fatal", "STORE_CORRUPT"],
  ["42601", "fatal", "STORE_FAILED"],
  ["ECONNREFUSED", "unavailable", "STORE_UNAVAILABLE"],
  ["ECONNRESET", "unavailable", "STORE_UNAVAILABLE"],
  ["ETIMEDOUT", "unavailable", "STORE_UNAVAILABLE"],
  ["EPIPE", "unavailable", "STORE_UNAVAILABLE"],
  ["ENOTFOUND", "unavailable", "STORE_UNAVAILABLE"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "fatal", "STORE_UNAVAILABLE"],
];

describe("an error is known by its code, wherever it is in the chain of causes (R-071, INV-43)", () => {
  test.each(table)("%s is %s, %s", (code, failure, reason) => {
    for (const error of [coded(code), wrapped(coded(code))]) {
      expect(storeFailure(error, place, "before")).toMatchObject({ failure, code: reason });
      expect(errorCode(error)).toBe(code);
    }
  });

  test("its words do not matter", () => {
    const misleading = coded("23505", "could not serialize access due to ECONNRESET deadlock detected");
    expect(storeFailure(misleading, place, "before")).toMatchObject({ failure: "constraint" });
    expect(storeFailure(new Error("duplicate key value"), place, "before")).toMatchObject({
      failure: "unavailable",
    });
  });

  test("a cause that is its own cause is no trap", () => {
    const error = new Error("round") as Error & { cause?: unknown };
    error.cause = error;
    expect(errorCode(error)).toBeUndefined();
  });
});

describe.skipIf(postgresUrl === undefined)(
  "as the server itself raises them (set EVERSTEP_POSTGRES_URL)",
  () => {
    const database = new PostgresDatabase(readOptions({ url: postgresUrl ?? "postgres://nowhere", max: 1 }));
    afterAll(() => database.close());
    const states = table.filter(([code]) => /^\w\w\w\w\w$/.test(code) && !code.startsWith("E"));

    test.each(states)("%s is %s, %s", async (code, failure, reason) => {
      const sql = `DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '${code}'; END $$`;
      const raised = database.transact((tx) => tx.run([{ sql, values: [] }]));
      await expect(raised).rejects.toMatchObject({ failure, code: reason, details: { code } });
    });

    test("a database that is not there, and a server that is not", async () => {
      const wrong = new URL(postgresUrl as string);
      wrong.pathname = "/nobody_made_this";
      for (const [url, failure] of [
        [wrong.href, "fatal"],
        ["postgres://nobody@127.0.0.1:1/none", "unavailable"],
      ] as const) {
        const other = new PostgresDatabase(readOptions(url));
        await expect(other.run([{ sql: "SELECT 1", values: [] }])).rejects.toMatchObject({ failure });
        await other.close();
      }
    });
  },
);

describe("once the commit was on its way", () => {
  test.each(["57P01", "08006", "ECONNRESET", "EPIPE", "40003"])(
    "%s leaves open whether it happened",
    (code) => {
      expect(storeFailure(coded(code), place, "after")).toMatchObject({
        failure: "ambiguous",
        message: expect.stringMatching(/unknown/),
      });
    },
  );

  test("so does a connection that simply ended, for which the driver has no code", () => {
    const ended = new Error("Connection terminated unexpectedly");
    expect(storeFailure(ended, place, "after")).toMatchObject({ failure: "ambiguous" });
    expect(storeFailure(ended, place, "before")).toMatchObject({ failure: "unavailable" });
  });

  test.each(["40001", "40P01", "23505", "22021", "53100"])("%s is certain: it did not happen", (code) => {
    const { failure } = storeFailure(coded(code), place, "after") as StoreError;
    expect(failure).not.toBe("ambiguous");
  });
});

test("a message says where, what and what to do, and keeps the server's own words", () => {
  const { message } = storeFailure(coded("3D000", 'database "app" does not exist'), place, "before");
  expect(message).toBe(
    'The database "app" on db:5432 does not exist. Create it with CREATE DATABASE. ' +
      '(3D000: database "app" does not exist)',
  );
});

test("what is an EverstepError already stays as it is", () => {
  const error = new EverstepError("INVALID_ARGUMENT", "no");
  expect(storeFailure(error, place, "after")).toBe(error);
});

test("a unique violation is recognised through wrappers, and nothing else is one", () => {
  expect(isUniqueViolation(wrapped(coded("23505")))).toBe(true);
  expect(isUniqueViolation(wrapped(coded("23503")))).toBe(false);
  expect(isUniqueViolation("23505")).toBe(false);
});
