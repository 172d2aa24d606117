import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder, watchedDriver } from "../../../../../tests/support/sqlite-place.ts";
import { EverstepError, StoreError } from "../../model/error.ts";
import { snapshot, started } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  ref,
  value,
} from "../../testing/store-contract/given.ts";
import { storeFailure } from "./failures.ts";
import { sqlite } from "./index.ts";
import { readOptions } from "./options.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An error as node:sqlite throws it. */
function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`code ${errcode}`), { code: "ERR_SQLITE_ERROR", errcode });
}

describe("a file that is removed or replaced while it is open", () => {
  test("is told within a second, instead of taking what would be gone with the process", async () => {
    const file = join(folder, "removed.db");
    const store = sqlite(file);
    await store.migrate();
    await store.write([create("a")], at(0));
    renameSync(file, `${file}.aside`);
    const refused = { failure: "fatal", code: "STORE_FILE_GONE" };
    await expect(store.write([create("b")], at(1000))).rejects.toMatchObject(refused);
    await expect(store.claim(claimRequest({ now: at(1001) }))).rejects.toMatchObject(refused);
    writeFileSync(file, "");
    await expect(store.write([create("b")], at(1002))).rejects.toMatchObject(refused);
    // Put back, it is the same file.
    renameSync(`${file}.aside`, file);
    expect(await store.write([create("b")], at(1003))).toMatchObject([{ kind: "created" }]);
    await store.close();
  });
});

describe("a log that is removed or replaced while its file is open", () => {
  const refused = { failure: "fatal", code: "STORE_FILE_GONE", message: expect.stringContaining("-wal") };

  test("is told within a second, and an ordinary stop saves what stood in it", async () => {
    const file = join(folder, "without-log.db");
    const store = sqlite(file);
    await store.migrate();
    await store.write([create("a")], at(0));
    rmSync(`${file}-wal`);
    await expect(store.write([create("b")], at(1000))).rejects.toMatchObject(refused);
    await expect(store.claim(claimRequest({ now: at(1001) }))).rejects.toMatchObject(refused);
    writeFileSync(`${file}-wal`, "");
    await expect(store.write([create("b")], at(1002))).rejects.toMatchObject(refused);
    rmSync(`${file}-wal`);
    await store.close();
    const again = sqlite(file);
    expect(await again.getInstance(ref("a"))).toBeDefined();
    expect(await again.write([create("b")], at(2000))).toMatchObject([{ kind: "created" }]);
    await again.close();
  });

  test("is the same one however often it begins anew, and for every process", async () => {
    const file = join(folder, "with-log.db");
    const one = sqlite(file);
    await one.write([create("a")], at(0));
    const other = new DatabaseSync(file);
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(await one.write([create("b")], at(1000))).toMatchObject([{ kind: "created" }]);
    other.close();
    const two = sqlite(file);
    await two.write([create("c")], at(1000));
    await two.close();
    expect(await one.write([create("d")], at(2000))).toMatchObject([{ kind: "created" }]);
    await one.close();
  });
});

describe("every error of SQLite has a meaning (R-071, INV-43)", () => {
  const settings = readOptions(join(folder, "x.db"));
  test.each([
    [5, "conflict", "STORE_BUSY"],
    [261, "conflict", "STORE_BUSY"], // BUSY_RECOVERY
    [517, "conflict", "STORE_BUSY"], // BUSY_SNAPSHOT
    [6, "conflict", "STORE_BUSY"],
    [7, "unavailable", "STORE_UNAVAILABLE"],
    [8, "fatal", "STORE_READ_ONLY"],
    [1032, "fatal", "STORE_READ_ONLY"], // READONLY_DBMOVED
    [10, "unavailable", "STORE_UNAVAILABLE"],
    [1034, "unavailable", "STORE_UNAVAILABLE"], // IOERR_FSYNC
    [11, "fatal", "STORE_CORRUPT"],
    [13, "unavailable", "STORE_FULL"],
    [14, "fatal", "STORE_UNAVAILABLE"],
    [18, "too-large", "PAYLOAD_TOO_LARGE"],
    [19, "constraint", "STORE_FAILED"],
    [2067, "constraint", "STORE_FAILED"], // CONSTRAINT_UNIQUE
    [26, "fatal", "STORE_CORRUPT"],
    [1, "fatal", "STORE_FAILED"],
  ])("%i is %s, %s", (code, failure, reason) => {
    const found = storeFailure(sqliteError(code), settings, "statement");
    expect(found).toBeInstanceOf(StoreError);
    expect(found).toMatchObject({ failure, code: reason, details: { resultCode: code } });
    expect(found.message.length).toBeGreaterThan(40);
  });

  test("an I/O error of COMMIT itself leaves the outcome unknown", () => {
    expect(storeFailure(sqliteError(10), settings, "commit")).toMatchObject({ failure: "ambiguous" });
    expect(storeFailure(sqliteError(13), settings, "commit")).toMatchObject({ failure: "unavailable" });
  });

  test("an error that was wrapped on its way keeps its meaning", () => {
    const wrapped = new Error("query failed", { cause: new Error("driver", { cause: sqliteError(5) }) });
    expect(storeFailure(wrapped, settings, "statement")).toMatchObject({ code: "STORE_BUSY" });
  });

  test("what SQLite did not raise is a failure too, not a riddle", () => {
    expect(storeFailure(new TypeError("no"), settings, "statement")).toMatchObject({
      failure: "fatal",
      code: "STORE_FAILED",
    });
  });
});

test("a full disk is reported as such, nothing is written by halves, and work goes on once there is room", async () => {
  const { driver, database } = watchedDriver();
  const store = sqlite({ path: join(folder, "full.db"), driver });
  const { lease } = await started(store, "a");
  const before = await snapshot(store, "a");
  const pages = database().prepare("PRAGMA page_count").get()?.page_count;
  database().exec(`PRAGMA max_page_count = ${pages}`);

  const result = value("x".repeat(100_000));
  const large = commit(lease, boundary(1, { steps: [completed(1), completed(2, { result })] }));
  await expect(store.write([create("b"), large], at(1))).rejects.toMatchObject({
    code: "STORE_FULL",
    failure: "unavailable",
    retryable: true,
  });
  expect(await snapshot(store, "a")).toEqual(before);
  expect(await store.getInstance(ref("b"))).toBeUndefined();

  database().exec("PRAGMA max_page_count = 1000000");
  expect(await store.write([create("b"), large], at(2))).toMatchObject([
    { kind: "created" },
    { kind: "committed" },
  ]);
  await store.close();
});

describe("while another process writes", () => {
  test("a write fails as a conflict after the busy timeout and succeeds when repeated", async () => {
    const path = join(folder, "busy.db");
    const store = sqlite({ path, busyTimeoutMs: 5 });
    await store.migrate();
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject({
      code: "STORE_BUSY",
      failure: "conflict",
      retryable: true,
    });
    other.exec("COMMIT");
    other.close();
    expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
    await store.close();
  });

  test("reads and an idle poll go on: they take no lock", async () => {
    const path = join(folder, "idle.db");
    const store = sqlite({ path, busyTimeoutMs: 0 });
    await store.write([create("later", { dueAt: at(1000) })], at(0));
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect(await store.claim(claimRequest({ now: at(1) }))).toEqual([]);
    expect(await store.prune({ before: at(1), limit: 10 })).toBe(0);
    expect(await store.nextDueAt(["order"])).toBe(at(1000));
    expect(await store.getInstance(ref("later"))).toMatchObject({ status: "active" });
    await expect(store.claim(claimRequest({ now: at(1000) }))).rejects.toMatchObject({ code: "STORE_BUSY" });
    other.close();
    await store.close();
  });
});

test("a closed store says so, and closing twice is harmless", async () => {
  const store = sqlite(":memory:");
  await store.migrate();
  await store.close();
  await store.close();
  await expect(store.write([create("a")], at(0))).rejects.toMatchObject({
    code: "STORE_CLOSED",
    failure: "fatal",
  });
  await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  await expect(store.countByStatus()).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

test("closing while the file is being opened leaves nothing open", async () => {
  const path = join(folder, "closing.db");
  const store = sqlite(path);
  const opening = store.migrate().then(
    () => "opened",
    (error) => error.code,
  );
  await store.close();
  expect(["opened", "STORE_CLOSED"]).toContain(await opening);
  await expect(store.countByStatus()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  // Nobody else has the file open, or it could not leave WAL mode.
  const other = new DatabaseSync(path);
  expect(other.prepare("PRAGMA journal_mode = DELETE").get()).toEqual({ journal_mode: "delete" });
  other.close();
});

test("what the driver says about the runtime reaches the caller as it is", async () => {
  const driver = {
    open: () => Promise.reject(new EverstepError("RUNTIME_UNSUPPORTED", "no SQLite here")),
    adopt: () => undefined,
    resultCode: () => undefined,
  };
  await expect(sqlite({ path: ":memory:", driver }).migrate()).rejects.toMatchObject({
    code: "RUNTIME_UNSUPPORTED",
  });
});
