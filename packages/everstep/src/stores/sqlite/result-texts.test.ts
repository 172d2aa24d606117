import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../tests/support/sqlite-place.ts";
import type { SqliteDriver } from "./driver.ts";
import { nodeDriver } from "./driver.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As Deno has it when a file is opened or a statement is executed without being prepared. */
function withoutNumber(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  return Object.assign(new Error(error.message), { code: "ERR_SQLITE_ERROR" });
}

const withoutNumbers: SqliteDriver = {
  ...nodeDriver,
  resultCode: (error) => nodeDriver.resultCode(withoutNumber(error)),
};

/** What the act fails with. */
function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
}

describe("errors of SQLite without a number (Deno) mean the same as with one", () => {
  const path = join(folder, "errors.db");
  const [db, other] = [new DatabaseSync(path), new DatabaseSync(path)];
  db.exec(`
    CREATE TABLE t (k TEXT UNIQUE, n INTEGER NOT NULL CHECK (n > 0));
    CREATE TABLE r (k REFERENCES t (k) DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO t VALUES ('a', 1);
  `);
  writeFileSync(join(folder, "text.db"), "no database ".repeat(500));
  afterAll(() => {
    db.close();
    other.close();
  });

  test.each<[string, () => unknown]>([
    [
      "busy",
      () => {
        db.exec("BEGIN IMMEDIATE");
        try {
          other.exec("BEGIN IMMEDIATE");
        } finally {
          db.exec("ROLLBACK");
        }
      },
    ],
    ["no such folder", () => new DatabaseSync(join(folder, "nowhere", "x.db"))],
    ["no database", () => new DatabaseSync(join(folder, "text.db")).exec("SELECT * FROM sqlite_master")],
    ["read only", () => new DatabaseSync(path, { readOnly: true }).exec("DELETE FROM t")],
    ["unique", () => db.exec("INSERT INTO t VALUES ('a', 1)")],
    ["not null", () => db.exec("INSERT INTO t (k) VALUES ('b')")],
    ["check", () => db.exec("INSERT INTO t VALUES ('b', 0)")],
    [
      "foreign key",
      () => {
        db.exec("PRAGMA foreign_keys = 1; BEGIN; INSERT INTO r VALUES ('nobody')");
        try {
          db.exec("COMMIT");
        } finally {
          db.exec("ROLLBACK");
        }
      },
    ],
    ["too big", () => db.exec("SELECT zeroblob(2000000000)")],
    ["no such table", () => db.exec("SELECT * FROM nothing")],
    ["syntax", () => db.exec("SELEC")],
  ])("%s", (_what, act) => {
    const error = failureOf(act);
    const expected = nodeDriver.resultCode(error);
    expect(expected).toBeGreaterThan(0);
    expect(nodeDriver.resultCode(withoutNumber(error))).toBe(expected);
  });

  test("what is not of SQLite has no code", () => {
    expect(nodeDriver.resultCode(new Error("database is locked"))).toBeUndefined();
    expect(nodeDriver.resultCode("database is locked")).toBeUndefined();
  });

  test("burying an owner nobody has heard of is harmless, and one that lives is not buried", async () => {
    const store = sqlite({ path: join(folder, "owners.db"), driver: withoutNumbers });
    await store.ownership?.bury("nobody");
    const hold = await store.ownership?.hold("alive");
    await expect(store.ownership?.hold("alive")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.ownership?.bury("alive");
    expect(await store.ownership?.findDead()).toEqual([]);
    await hold?.release();
    await store.close();
  });
});

test("how long a statement waits for a lock is said to SQLite itself, whatever the runtime makes of its options", async () => {
  const database = await nodeDriver.open(join(folder, "timeout.db"), { create: true, busyTimeoutMs: 123 });
  expect(database.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 123 });
  database.close();
});
