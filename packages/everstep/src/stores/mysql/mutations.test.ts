import { int, mysqlTable, varchar } from "drizzle-orm/mysql-core";
import { drizzle, type MySql2Database } from "drizzle-orm/mysql2";
import { Kysely, MysqlDialect } from "kysely";
import type { Connection } from "mysql2/promise";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { Mutation } from "../../model/mutations.ts";
import type { CommitOutcome } from "../../store/store.ts";
import { snapshot, started, stepsOf, write } from "../../testing/store-contract/acts.ts";
import { at, boundary, commit, completed, create, ref } from "../../testing/store-contract/given.ts";
import { asPool, type MysqlClient, type MysqlStore } from "./index.ts";
import type { MysqlOptions } from "./options.ts";

interface Tables {
  account: { name: string; balance: number };
}
const account = mysqlTable("account", {
  name: varchar({ length: 50 }).primaryKey(),
  balance: int().notNull(),
});

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  let store: MysqlStore;
  let lease: Lease;

  const begin = async (options: Partial<MysqlOptions> = {}): Promise<void> => {
    await store?.close();
    store = await place.open(options);
    await store.migrate();
    lease = (await started(store, "a")).lease;
  };
  beforeAll(async () => {
    await place.create();
    await place.query(
      "CREATE TABLE account (name VARCHAR(50) PRIMARY KEY, balance INT NOT NULL CHECK (balance >= 0)) ENGINE = InnoDB",
    );
    await place.query(
      "CREATE PROCEDURE ends() BEGIN INSERT INTO account VALUES ('procedure', 1); COMMIT; END",
    );
  });
  afterAll(place.drop);
  beforeEach(async () => {
    await place.query("DELETE FROM account");
    await begin();
  });
  afterEach(() => store.close());

  const accounts = () => place.query("SELECT name, balance FROM account ORDER BY name");
  const mutate = (...mutations: Mutation[]): Promise<CommitOutcome> => {
    const request = commit(lease, boundary(1, { steps: [completed(1)] }), {
      mutations: { serviceCalls: [], mutate: mutations },
    });
    return write(store, request, at(1));
  };
  const insert =
    (name: string, balance = 1): Mutation =>
    (db: MysqlClient) =>
      db.query("INSERT INTO account VALUES (?, ?)", [name, balance]);

  test("the handle is a connection of mysql2, in the step's own transaction", async () => {
    const outcome = await mutate(async (db: Connection) => {
      const [inserted] = await db.query("INSERT INTO account VALUES ('ann', 1), ('bob', 2)");
      expect(inserted).toMatchObject({ affectedRows: 2 });
      const [rows] = await db.execute("SELECT name FROM account WHERE balance > ?", [1]);
      expect(rows).toEqual([{ name: "bob" }]);
      const [lists] = await db.query({ sql: "SELECT name FROM account", rowsAsArray: true });
      expect(lists).toEqual([["ann"], ["bob"]]);
      await db.query("SAVEPOINT mine");
      await db.query("DELETE FROM account");
      await db.query("ROLLBACK TO SAVEPOINT mine");
      // Nobody else sees it yet.
      expect(await accounts()).toEqual([]);
    });
    expect(outcome.kind).toBe("committed");
    expect(await accounts()).toHaveLength(2);
    expect(await stepsOf(store, lease.runId)).toEqual([completed(1)]);
  });

  test("a unique violation is a conflict, undoes everything and leaves the lease", async () => {
    await place.query("INSERT INTO account VALUES ('ann', 1)");
    const before = await snapshot(store, "a");
    const outcome = await mutate(insert("bob"), insert("ann"));
    expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true, error: { errno: 1062 } });
    expect(await accounts()).toEqual([{ name: "ann", balance: 1 }]);
    expect(await snapshot(store, "a")).toEqual(before);
    expect(await mutate(insert("bob"))).toMatchObject({ kind: "committed" });
  });

  test("another rule that is broken, and any other error, is the author's failure and no conflict", async () => {
    expect(await mutate(insert("ann", -1))).toMatchObject({ kind: "mutation-failed", conflict: false });
    const mine = Object.assign(new Error("their server is down"), { code: "ECONNREFUSED" });
    const thrown = await mutate(insert("ann"), () => Promise.reject(mine));
    expect(thrown).toEqual({ kind: "mutation-failed", conflict: false, error: mine });
    expect(await mutate((db: MysqlClient) => db.query("INSERT INTO nowhere VALUES (1)"))).toMatchObject({
      kind: "mutation-failed",
      conflict: false,
    });
    expect(await accounts()).toEqual([]);
    expect(await stepsOf(store, lease.runId)).toEqual([]);
  });

  test("a commit that is sent again while it is under way is applied once, and both hear so (INV-42)", async () => {
    let ready = 0;
    const together: Mutation = async () => {
      ready += 1;
      for (let n = 0; n < 50 && ready < 2; n += 1) await place.query("SELECT SLEEP(0.01)");
    };
    const outcomes = await Promise.all([mutate(together, insert("ann")), mutate(together, insert("ann"))]);
    expect(outcomes).toMatchObject([{ kind: "committed" }, { kind: "committed" }]);
    expect(await accounts()).toHaveLength(1);
  });

  describe("the transaction belongs to the store", () => {
    test.each([
      "BEGIN",
      "COMMIT",
      "-- a note\nROLLBACK",
      "CREATE TABLE other (a INT)",
      "TRUNCATE account",
      "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'",
      "SELECT 1; COMMIT",
    ])("%j is refused", async (sql) => {
      for (const method of ["query", "execute"] as const) {
        const outcome = await mutate(insert("ann"), (db: MysqlClient) => db[method](sql));
        expect(outcome).toMatchObject({ kind: "mutation-failed", error: { code: "MUTATION_INVALID" } });
      }
      expect(await accounts()).toEqual([]);
    });

    test("a refusal that the author swallows leaves the transaction whole", async () => {
      const outcome = await mutate(insert("ann"), (db: MysqlClient) => db.query("ROLLBACK").catch(() => {}));
      expect(outcome.kind).toBe("committed");
      expect(await accounts()).toHaveLength(1);
    });

    test("a procedure that commits is found out, and the step is not recorded", async () => {
      const outcome = await mutate((db: MysqlClient) => db.query("CALL ends()"));
      expect(outcome).toMatchObject({
        kind: "mutation-failed",
        conflict: false,
        error: { code: "MUTATION_INVALID", message: expect.stringContaining("ended the transaction") },
      });
      expect(await stepsOf(store, lease.runId)).toEqual([]);
      expect(await mutate(insert("ann"))).toMatchObject({ kind: "committed" });
    });

    test("the handle has no way to the connection itself, and is dead afterwards", async () => {
      let kept: MysqlClient | undefined;
      await mutate((db: MysqlClient) => {
        kept = db;
        expect(Object.keys(db).sort()).toEqual(["execute", "query"]);
      });
      await expect(kept?.query("DELETE FROM account")).rejects.toThrow(/after the mutation had returned/);
    });

    test("a statement that is still under way when the mutation returns is over before the step is recorded", async () => {
      let late: Promise<unknown> | undefined;
      const outcome = await mutate((db: MysqlClient) => {
        late = db.query("INSERT INTO account SELECT 'late', SLEEP(0.1)");
      });
      await late;
      expect(outcome.kind).toBe("committed");
      expect(await accounts()).toHaveLength(1);
    });
  });

  describe("trouble of the server is the store's failure, not the author's", () => {
    test("a connection that is lost", async () => {
      const failing = mutate(insert("ann"), async (db: MysqlClient) => {
        const [[row]] = await db.query("SELECT CONNECTION_ID() AS id");
        await place.query(`KILL ${row.id}`);
        await db.query("SELECT 1");
      });
      await expect(failing).rejects.toMatchObject({ failure: "unavailable" });
      expect(await mutate(insert("ann"))).toMatchObject({ kind: "committed" });
    });

    test("a connection that is lost although the author swallows the error", async () => {
      const failing = mutate(insert("ann"), async (db: MysqlClient) => {
        const [[row]] = await db.query("SELECT CONNECTION_ID() AS id");
        await place.query(`KILL ${row.id}`);
        await db.query("SELECT 1").catch(() => {});
      });
      await expect(failing).rejects.toMatchObject({ failure: "unavailable" });
      expect(await accounts()).toEqual([]);
    });

    test("a deadlock: the mutation runs again, and what it wrote before is not there twice", async () => {
      await place.query("INSERT INTO account VALUES ('x', 0), ('y', 0)");
      const other = await place.connect();
      await other.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
      await other.query("UPDATE account SET balance = 5 WHERE name = 'y'");
      // Makes the other one the more expensive victim.
      await other.query(
        `INSERT INTO account VALUES ${Array.from({ length: 50 }, (_unused, n) => `('p${n}', 0)`).join()}`,
      );
      let runs = 0;
      let crossing: Promise<unknown> = Promise.resolve();
      const outcome = await mutate(insert("ann"), async (db: MysqlClient) => {
        runs += 1;
        await db.query("UPDATE account SET balance = 1 WHERE name = 'x'");
        if (runs === 1)
          crossing = other
            .query("UPDATE account SET balance = 6 WHERE name = 'x'")
            .then(() => other.query("ROLLBACK"));
        await db.query("UPDATE account SET balance = 1 WHERE name = 'y'");
      });
      await crossing;
      await other.end();
      expect([outcome.kind, runs]).toEqual(["committed", 2]);
      expect(await accounts()).toEqual([
        { name: "ann", balance: 1 },
        { name: "x", balance: 1 },
        { name: "y", balance: 1 },
      ]);
    });
  });

  test("a call to the store from within a mutation is a transaction of its own", async () => {
    const outcome = await mutate(insert("ann"), () => store.write([create("b")], at(1)));
    expect(outcome.kind).toBe("committed");
    expect(await store.getInstance(ref("b"))).toMatchObject({ status: "active" });
  });

  describe("with Kysely", () => {
    const handle = (client: MysqlClient) =>
      new Kysely<Tables>({ dialect: new MysqlDialect({ pool: asPool(client) }) });
    beforeEach(() => begin({ handle }));

    test("rows are written with the step", async () => {
      const outcome = await mutate(async (db: Kysely<Tables>) => {
        const { numInsertedOrUpdatedRows } = await db
          .insertInto("account")
          .values({ name: "it's ?", balance: 3 })
          .executeTakeFirstOrThrow();
        expect(numInsertedOrUpdatedRows).toBe(1n);
        expect(await db.selectFrom("account").selectAll().execute()).toEqual([
          { name: "it's ?", balance: 3 },
        ]);
      });
      expect(outcome.kind).toBe("committed");
      expect(await accounts()).toEqual([{ name: "it's ?", balance: 3 }]);
    });

    test("a unique violation is a conflict", async () => {
      const add = (db: Kysely<Tables>) =>
        db.insertInto("account").values({ name: "ann", balance: 3 }).execute();
      expect(await mutate(add, add)).toMatchObject({ kind: "mutation-failed", conflict: true });
      expect(await accounts()).toEqual([]);
    });

    test("a transaction of its own is refused", async () => {
      const outcome = await mutate((db: Kysely<Tables>) =>
        db.transaction().execute((tx) => tx.deleteFrom("account").execute()),
      );
      expect(outcome).toMatchObject({ kind: "mutation-failed", error: { code: "MUTATION_INVALID" } });
    });
  });

  describe("with Drizzle", () => {
    const handle: NonNullable<MysqlOptions["handle"]> = (client) => drizzle({ client });
    beforeEach(() => begin({ handle }));

    test("rows are written with the step", async () => {
      const outcome = await mutate(async (db: MySql2Database) => {
        await db.insert(account).values({ name: "it's ?", balance: 3 });
        expect(await db.select().from(account)).toEqual([{ name: "it's ?", balance: 3 }]);
      });
      expect(outcome.kind).toBe("committed");
      expect(await accounts()).toEqual([{ name: "it's ?", balance: 3 }]);
    });

    test("a unique violation, which it wraps, is a conflict", async () => {
      const add = (db: MySql2Database) => db.insert(account).values({ name: "ann", balance: 3 });
      const outcome = await mutate(add, add);
      expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true });
      expect(await accounts()).toEqual([]);
    });

    test("a transaction of its own is refused", async () => {
      const outcome = await mutate((db: MySql2Database) => db.transaction((tx) => tx.delete(account)));
      expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: false });
      expect(JSON.stringify(outcome)).toContain("MUTATION_INVALID");
    });
  });
});
