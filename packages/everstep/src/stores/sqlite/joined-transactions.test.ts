import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeFirstSchema, temporaryFolder } from "../../../../../tests/support/sqlite-place.ts";
import { at, create, ref } from "../../testing/store-contract/given.ts";
import type { SqliteDriver } from "./driver.ts";
import { nodeDriver } from "./driver.ts";
import type { SqliteStore } from "./index.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let place = "";
let path = "";
let places = 0;
beforeEach(() => {
  places += 1;
  place = join(folder, String(places));
  mkdirSync(place);
  path = join(place, "app.db");
});

async function createWithin(store: SqliteStore, tx: DatabaseSync, id: string): Promise<void> {
  tx.exec("BEGIN IMMEDIATE");
  try {
    expect(await store.writeWithin(tx, [create(id)], at(0))).toMatchObject([{ kind: "created" }]);
    tx.exec("COMMIT");
  } finally {
    if (tx.isTransaction) tx.exec("ROLLBACK");
  }
  expect(await store.getInstance(ref(id))).toMatchObject({ status: "active" });
}

async function migratedStore(): Promise<SqliteStore> {
  const store = sqlite({ path, synchronous: "normal" });
  await store.migrate();
  return store;
}

describe("which file it is", () => {
  test("a file behind a symbolic link is the store's own, whoever goes by the link", async () => {
    const link = join(folder, `link ${places}`);
    symlinkSync(place, link);
    symlinkSync(path, join(place, "current.db"));
    const names = [path, join(link, "app.db"), join(place, "current.db")];
    await (await migratedStore()).close();
    for (const [n, name] of names.entries()) {
      const store = sqlite({ path: name, synchronous: "normal" });
      for (const [m, other] of names.entries()) {
        const tx = new DatabaseSync(other);
        await createWithin(store, tx, `${n} ${m}`);
        tx.close();
      }
      await store.close();
    }
  });

  test("another file is refused by its name, and so is a database in memory", async () => {
    const store = await migratedStore();
    for (const name of [join(place, "other.db"), ":memory:"]) {
      const tx = new DatabaseSync(name);
      tx.exec("BEGIN");
      await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringMatching(/open on (".*other\.db"|""), which is another file/),
      });
      tx.close();
    }
    await store.close();
  });
});

describe("before the tables are there", () => {
  /** Nobody waits for a lock that the caller holds. */
  function countingDriver(): { readonly driver: SqliteDriver; opened(): number } {
    let count = 0;
    const driver: SqliteDriver = {
      ...nodeDriver,
      open(name, options) {
        count += 1;
        return nodeDriver.open(name, { ...options, busyTimeoutMs: 0 });
      },
    };
    return { driver, opened: () => count };
  }
  const migrateFirst = {
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(
      /tables are not there yet.*call app\.migrate\(\) or app\.start\(\) before you begin the transaction/s,
    ),
  };

  test.each([
    ["a new file", (): void => {}],
    ["a file of an older schema", (): void => makeFirstSchema(path)],
  ])("a write within %s says at once what to call first, and works afterwards", async (_name, prepare) => {
    prepare();
    const { driver, opened } = countingDriver();
    const store = sqlite({ path, driver });
    const tx = new DatabaseSync(path);
    tx.exec("BEGIN IMMEDIATE");
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject(migrateFirst);
    expect(opened()).toBe(0);
    expect(tx.isTransaction).toBe(true);
    tx.exec("ROLLBACK");

    await store.migrate();
    await createWithin(store, tx, "a");
    tx.close();
    await store.close();
  });

  test("a plan is made while the caller holds the lock: it needs none", async () => {
    const { driver } = countingDriver();
    const store = sqlite({ path, driver });
    const tx = new DatabaseSync(path);
    tx.exec("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE; CREATE TABLE mine (id)");
    expect((await store.migrate({ plan: true })).statements.length).toBeGreaterThan(0);
    tx.close();
    await store.close();
  });

  test("opening in vain names a transaction of one's own as a possible reason", async () => {
    const { driver } = countingDriver();
    const store = sqlite({ path, driver });
    const tx = new DatabaseSync(path);
    tx.exec("BEGIN IMMEDIATE");
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_BUSY",
      failure: "conflict",
      message: expect.stringMatching(
        /transaction of your own.*app\.migrate\(\) or app\.start\(\) before you begin/s,
      ),
    });
    tx.close();
    await store.close();
  });

  test("a schema that needs newer code is refused as ever (R-089)", async () => {
    await (await migratedStore()).close();
    const tx = new DatabaseSync(path);
    tx.exec(
      "UPDATE everstep_meta SET value = 9 WHERE name IN ('schema_version', 'oldest_compatible'); BEGIN",
    );
    const store = sqlite(path);
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject({
      code: "SCHEMA_TOO_NEW",
    });
    tx.close();
    await store.close();
  });

  test("tables that are there are used without opening the file once more", async () => {
    await (await migratedStore()).close();
    const { driver, opened } = countingDriver();
    const store = sqlite({ path, driver });
    const tx = new DatabaseSync(path);
    tx.exec("BEGIN IMMEDIATE");
    expect(await store.writeWithin(tx, [create("a")], at(0))).toMatchObject([{ kind: "created" }]);
    expect(opened()).toBe(0);
    tx.close();
    await store.close();
  });
});

describe("the caller's handle", () => {
  test.each([{ readBigInts: true }, { returnArrays: true }, { readBigInts: true, returnArrays: true }])(
    "opened with %j is as good as any other, and keeps its settings",
    async (settings) => {
      const store = await migratedStore();
      const tx = new DatabaseSync(path, settings);
      await createWithin(store, tx, "a");
      await createWithin(store, tx, "b");
      const one = settings.readBigInts ? 1n : 1;
      const row = tx.prepare("SELECT 1 AS one").get();
      expect(row).toEqual(settings.returnArrays ? [one] : { one });
      tx.close();
      await store.close();
    },
  );

  test("may be closed and opened again, any number of times", async () => {
    const store = await migratedStore();
    const tx = new DatabaseSync(path);
    for (const id of ["a", "b", "c"]) {
      await createWithin(store, tx, id);
      tx.close();
      tx.open();
    }
    tx.close();
    await store.close();
  });

  test("that is closed or has no transaction is refused with what to do, and may be used once it has one", async () => {
    const store = await migratedStore();
    const tx = new DatabaseSync(path);
    const refused = { code: "INVALID_ARGUMENT", message: expect.stringContaining("BEGIN IMMEDIATE") };
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject(refused);
    tx.close();
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject(refused);
    tx.open();
    await createWithin(store, tx, "a");
    tx.close();
    await store.close();
  });
});

test("a closed store writes in nobody's transaction", async () => {
  const store = await migratedStore();
  await store.close();
  const tx = new DatabaseSync(path);
  tx.exec("BEGIN IMMEDIATE");
  await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject({ code: "STORE_CLOSED" });
  tx.close();
});
