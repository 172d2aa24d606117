import { drizzle } from "drizzle-orm/mysql2";
import { CamelCasePlugin, Kysely, MysqlDialect } from "kysely";
import { createPool, type Pool } from "mysql2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl, type TestConnection } from "../../../../../tests/support/mysql-place.ts";
import type { StoreOutcome } from "../../store/store.ts";
import { claimIds, claimOne, committed, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  create,
  never,
  ref,
  restart,
  sendEvent,
  suspendUntil,
  value,
} from "../../testing/store-contract/given.ts";
import { drizzleTransaction, kyselyTransaction, type MysqlStore } from "./index.ts";

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  let store: MysqlStore;
  let tx: TestConnection;
  beforeAll(async () => {
    await place.create();
    await place.query("CREATE TABLE orders (id INT PRIMARY KEY) ENGINE = InnoDB");
  });
  afterAll(place.drop);
  beforeEach(async () => {
    await place.query("DELETE FROM orders");
    store = await place.open();
    await store.migrate();
    tx = await place.connect();
  });
  afterEach(async () => {
    await tx.end();
    await store.close();
  });

  const orders = async () => (await place.query("SELECT id FROM orders")).length;
  const isThere = async (id: string) => (await store.getInstance(ref(id))) !== undefined;
  const kinds = (outcomes: readonly StoreOutcome[]) => outcomes.map(({ kind }) => kind);

  test("the caller's rows and the instance come together, or neither", async () => {
    for (const [end, there] of [
      ["ROLLBACK", false],
      ["COMMIT", true],
    ] as const) {
      await tx.query("START TRANSACTION; INSERT INTO orders VALUES (1)");
      expect(
        kinds(await store.writeWithin(tx, [create("a", { params: value("it's ? :x") })], at(0))),
      ).toEqual(["created"]);
      expect(await isThere("a")).toBe(false);
      await tx.query(end);
      expect([await orders(), await isThere("a")]).toEqual([there ? 1 : 0, there]);
    }
    expect((await store.getInstance(ref("a")))?.params).toEqual(value("it's ? :x"));
  });

  test("a connection without several statements at once, or with named placeholders, will do", async () => {
    const plain = await place.connect({ multipleStatements: false, namedPlaceholders: true });
    await plain.beginTransaction();
    await store.writeWithin(plain, [create("a", { params: value(":name ?") })], at(0));
    await plain.commit();
    await plain.end();
    expect(await isThere("a")).toBe(true);
  });

  test("a connection on another database will do, and names what it means", async () => {
    const elsewhere = await place.connect({ database: "information_schema" });
    await elsewhere.beginTransaction();
    await store.writeWithin(elsewhere, [create("a")], at(0));
    await elsewhere.commit();
    await elsewhere.end();
    expect(await isThere("a")).toBe(true);
  });

  test("a connection without an open transaction is refused, and nothing is written", async () => {
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("no open transaction"),
    });
    expect(await isThere("a")).toBe(false);
  });

  test.each([
    ["SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'", /NO_BACKSLASH_ESCAPES/],
    ["SET NAMES latin1", /utf8mb4/],
    // In these a backslash may be the second byte of a character, so that it escapes nothing.
    ["SET NAMES gbk", /utf8mb4/],
    ["SET character_set_client = gbk", /utf8mb4/],
    ["SET NAMES sjis", /utf8mb4/],
  ])("after %s a connection is refused, because texts would be read in another way", async (sql, reason) => {
    await tx.query(sql);
    await tx.query("START TRANSACTION");
    await expect(store.writeWithin(tx, [create("a")], at(0))).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(reason),
    });
    await tx.query("COMMIT");
    expect(await isThere("a")).toBe(false);
  });

  test("an id that somebody else takes at the same moment is waited for, and then exists", async () => {
    await tx.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
    await store.writeWithin(tx, [create("a")], at(0));
    const second = write(store, create("a", { params: value("second") }), at(0));
    await tx.query("COMMIT");
    expect((await second).kind).toBe("exists");
  });

  describe("a transaction that sees an older state (REPEATABLE READ)", () => {
    beforeEach(async () => {
      await suspended(store, "a", [awaiting(1, "early", never)], never);
      await tx.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION");
    });

    test("is good enough while the run has not moved since", async () => {
      await tx.query("SELECT * FROM orders");
      await store.writeWithin(tx, [sendEvent("a", "e1", "early")], at(1));
      await tx.query("COMMIT");
      expect(await claimIds(store, at(2))).toEqual(["a"]);
    });

    test("never misses a wait that was registered meanwhile: it is refused instead (INV-23)", async () => {
      await tx.query("SELECT * FROM orders");
      await write(store, sendEvent("a", "e0", "early"), at(1));
      const { lease } = await claimOne(store, "a", at(1));
      await committed(
        store,
        commit(lease, boundary(1, { steps: [awaiting(2, "late", never)], next: suspendUntil(never) })),
        at(2),
      );
      await expect(store.writeWithin(tx, [sendEvent("a", "e1", "late")], at(3))).rejects.toMatchObject({
        failure: "conflict",
        message: expect.stringContaining("READ COMMITTED"),
      });
      await tx.query("ROLLBACK");
      await tx.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
      expect(await store.writeWithin(tx, [sendEvent("a", "e1", "late")], at(3))).toMatchObject([
        { woke: true },
      ]);
      await tx.query("COMMIT");
    });

    test("and one whose instance was restarted meanwhile is refused too", async () => {
      await tx.query("SELECT * FROM orders");
      await write(store, restart("a"), at(1));
      await expect(store.writeWithin(tx, [sendEvent("a", "e1", "early")], at(3))).rejects.toMatchObject({
        failure: "conflict",
      });
      await tx.query("ROLLBACK");
    });
  });

  test("what fails leaves the caller's transaction as it was before", async () => {
    await tx.query("START TRANSACTION; INSERT INTO orders VALUES (1)");
    const tooLong = create("x".repeat(1000));
    await expect(store.writeWithin(tx, [create("a"), tooLong], at(0))).rejects.toMatchObject({
      failure: "invalid",
    });
    await tx.query("COMMIT");
    expect([await orders(), await isThere("a")]).toEqual([1, false]);
  });

  test("when the server takes the transaction back, nothing more is written outside of it", async () => {
    await write(store, create("a"), at(0));
    await tx.query(
      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; INSERT INTO orders VALUES (1)",
    );
    const other = await place.connect();
    const run = `${place.namespaceOf(store)}_run`;
    await other.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
    await other.query(`SELECT id FROM ${run} FOR UPDATE`);
    await other.query(
      `INSERT INTO orders VALUES ${Array.from({ length: 50 }, (_unused, n) => `(${n + 100})`).join()}`,
    );
    const writing = store.writeWithin(tx, [sendEvent("a", "e1", "x"), create("b")], at(1));
    const crossing = other.query("INSERT INTO orders VALUES (1)");
    await expect(writing).rejects.toMatchObject({ failure: "conflict" });
    await crossing;
    await other.query("ROLLBACK");
    await other.end();
    await tx.query("COMMIT");
    expect([await orders(), await isThere("b")]).toEqual([0, false]);
    expect(
      (await store.listEvents((await store.getInstance(ref("a")))?.runId ?? 0, { limit: 5 })).items,
    ).toEqual([]);
  });

  describe("query builders", () => {
    let pool: Pool;
    beforeEach(() => {
      pool = createPool({ uri: place.url, connectionLimit: 2 });
    });

    test("a transaction of Kysely, whatever its plugins do to names", async () => {
      const db = new Kysely<{ orders: { id: number } }>({
        dialect: new MysqlDialect({ pool }),
        plugins: [new CamelCasePlugin()],
      });
      await suspended(store, "w", [awaiting(1, "x", never)], never);
      await db
        .transaction()
        .setIsolationLevel("read committed")
        .execute(async (trx) => {
          await trx.insertInto("orders").values({ id: 1 }).execute();
          const requests = [create("a", { params: value("?") }), create("a"), sendEvent("w", "e1", "x")];
          const outcomes = await store.writeWithin(kyselyTransaction(trx), requests, at(1));
          expect(kinds(outcomes)).toEqual(["created", "exists", "accepted"]);
        });
      expect([await orders(), await claimIds(store, at(2))]).toEqual([1, ["w", "a"]]);
      const failing = db.transaction().execute(async (trx) => {
        await store.writeWithin(kyselyTransaction(trx), [create("b")], at(1));
        throw new Error("changed my mind");
      });
      await expect(failing).rejects.toThrow("changed my mind");
      expect(await isThere("b")).toBe(false);
      await db.destroy();
    });

    test("what is neither is refused by its adapter", async () => {
      for (const wrong of [null, undefined, {}, tx]) {
        expect(() => kyselyTransaction(wrong as never)).toThrow(
          expect.objectContaining({ code: "INVALID_ARGUMENT" }),
        );
      }
      expect(() => drizzleTransaction({} as never)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
      await new Promise((resolve) => pool.end(resolve));
    });

    test("a transaction of Drizzle", async () => {
      const db = drizzle(pool);
      await db.transaction(async (trx) => {
        await trx.execute("INSERT INTO orders VALUES (1)");
        const requests = [create("a", { params: value("?") }), create("a")];
        expect(kinds(await store.writeWithin(drizzleTransaction(trx), requests, at(1)))).toEqual([
          "created",
          "exists",
        ]);
      });
      expect([await orders(), await isThere("a")]).toEqual([1, true]);
      const failing = db.transaction(async (trx) => {
        await store.writeWithin(drizzleTransaction(trx), [create("b")], at(1));
        trx.rollback();
      });
      await expect(failing).rejects.toThrow();
      expect(await isThere("b")).toBe(false);
      await new Promise((resolve) => pool.end(resolve));
    });
  });
});
