import { spawnSync } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { claimOne, started, write } from "../../testing/store-contract/acts.ts";
import { at, boundary, commit, completed, create, leaseMs } from "../../testing/store-contract/given.ts";
import type { Statement } from "../sql/session.ts";
import { type MysqlOptions, readOptions } from "./options.ts";
import { tableNames } from "./schema.ts";
import { MysqlDatabase } from "./session.ts";
import { updateRows } from "./statements.ts";

const sql = (text: string, ...values: unknown[]): Statement => ({ sql: text, values });

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  const opened: MysqlDatabase[] = [];
  const open = (options: Partial<MysqlOptions> = {}): MysqlDatabase => {
    const database = new MysqlDatabase(readOptions({ url: place.url, ...options }));
    opened.push(database);
    return database;
  };
  const threadOf = async (database: MysqlDatabase): Promise<number> => {
    const [result] = await database.run([sql("SELECT CONNECTION_ID() AS id")]);
    return result?.rows[0]?.id as number;
  };
  const balance = async (): Promise<unknown> =>
    (await place.query("SELECT balance FROM account"))[0]?.balance;

  beforeAll(async () => {
    await place.create();
    await place.query(
      "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL CHECK (balance >= 0)) ENGINE = InnoDB",
    );
  });
  afterAll(place.drop);
  beforeEach(async () => {
    await place.query("DELETE FROM account");
    await place.query("INSERT INTO account VALUES (1, 100)");
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  test("a session is set to what escaping and locking depend on", async () => {
    const [result] = await open({ lockTimeoutMs: 3000 }).run([
      sql(
        "SELECT @@sql_mode AS mode, @@time_zone AS zone, @@autocommit AS autocommit, @@innodb_lock_wait_timeout AS wait",
      ),
    ]);
    expect(result?.rows[0]).toMatchObject({ zone: "+00:00", autocommit: 1, wait: 3 });
    expect(result?.rows[0]?.mode).toContain("STRICT_ALL_TABLES");
  });

  test("several statements give a result each, in order", async () => {
    const results = await open().run([
      sql("SELECT 1 AS n"),
      sql("UPDATE account SET balance = balance - ?", 1),
      sql("SELECT balance FROM account"),
      sql("DO 0"),
    ]);
    expect(results).toEqual([
      { rows: [{ n: 1 }], changes: 0 },
      { rows: [], changes: 1 },
      { rows: [{ balance: 99 }], changes: 0 },
      { rows: [], changes: 0 },
    ]);
  });

  test("a statement that fails in the middle stops those behind it, and nothing is kept", async () => {
    const database = open({ max: 1 });
    const spend = database.transact((tx) =>
      tx.commit([
        sql("UPDATE account SET balance = 1"),
        sql("UPDATE account SET balance = -1"),
        sql("UPDATE account SET balance = 2"),
      ]),
    );
    await expect(spend).rejects.toMatchObject({ failure: "constraint" });
    expect(await balance()).toBe(100);
    // The connection is as good as new.
    const open_ = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = CONNECTION_ID()";
    expect((await database.run([sql(open_)]))[0]?.rows).toEqual([]);
  });

  test("what a transaction did before one of its later statements failed is undone too", async () => {
    const database = open({ max: 1 });
    const spend = database.transact(async (tx) => {
      await tx.run([sql("UPDATE account SET balance = 1")]);
      await tx.commit([sql("INSERT INTO account VALUES (1, 5)")]);
    });
    await expect(spend).rejects.toMatchObject({ failure: "constraint" });
    expect(await balance()).toBe(100);
  });

  test("an error of the caller's own rolls back and comes out as it was", async () => {
    const database = open();
    const mine = new Error("mine");
    const spend = database.transact(async (tx) => {
      await tx.run([sql("UPDATE account SET balance = 1")]);
      throw mine;
    });
    await expect(spend).rejects.toBe(mine);
    expect(await balance()).toBe(100);
  });

  test("a transaction is committed when its work is done, and needs no round trip when there was none", async () => {
    const database = open();
    await database.transact((tx) => tx.run([sql("UPDATE account SET balance = 7")]));
    expect(await balance()).toBe(7);
    expect(await database.transact(async () => "nothing")).toBe("nothing");
  });

  test("a lock that is waited for too long takes back the whole transaction, not only the statement (F-07)", async () => {
    await place.query("INSERT INTO account VALUES (2, 100)");
    const other = await place.connect();
    await other.query("START TRANSACTION; UPDATE account SET balance = 50 WHERE id = 2");
    const spend = open({ lockTimeoutMs: 1000 }).transact((tx) =>
      tx.commit([
        sql("UPDATE account SET balance = 1 WHERE id = 1"),
        sql("UPDATE account SET balance = 1 WHERE id = 2"),
      ]),
    );
    await expect(spend).rejects.toMatchObject({ failure: "conflict", details: { waited: true } });
    await other.query("ROLLBACK");
    await other.end();
    expect(await place.query("SELECT balance FROM account ORDER BY id")).toEqual([
      { balance: 100 },
      { balance: 100 },
    ]);
  });

  test("reads after a lock see what was committed while it was waited for", async () => {
    const other = await place.connect();
    await other.query("START TRANSACTION; UPDATE account SET balance = 50");
    const seen = open().transact(async (tx) => {
      await tx.run([sql("SELECT balance FROM account")]);
      return tx.commit([sql("SELECT balance FROM account FOR UPDATE"), sql("SELECT balance FROM account")]);
    });
    await other.query("COMMIT");
    await other.end();
    expect((await seen).map(({ rows }) => rows[0]?.balance)).toEqual([50, 50]);
  });

  describe("a lost compare-and-set is always found out (INV-40)", () => {
    test("rows that matched are counted, whether or not they changed", async () => {
      const results = await open().run([
        sql("UPDATE account SET balance = 100 WHERE id = 1"),
        sql("UPDATE account SET balance = 100 WHERE id = 1 AND balance = 99"),
      ]);
      expect(results.map(({ changes }) => changes)).toEqual([1, 0]);
    });

    test("one by one and many at once", async () => {
      await place.query("INSERT INTO account VALUES (2, 100)");
      const set = updateRows({ run: "account" } as never, "run", ["id"], ["balance"], "t.balance = 100");
      const results = await open().run([
        set([[1, 100]]),
        set([
          [1, 5],
          [2, 6],
          [3, 7],
        ]),
        set([[1, 8]]),
      ]);
      expect(results.map(({ changes }) => changes)).toEqual([1, 2, 0]);
    });

    test("a runner that lost its lease is told so", async () => {
      const store = await place.open();
      await store.migrate();
      const slow = await started(store, "a");
      const fast = await claimOne(store, "a", at(leaseMs));
      const late = await write(
        store,
        commit(slow.lease, boundary(1, { steps: [completed(1)] })),
        at(leaseMs),
      );
      expect(late.kind).toBe("superseded");
      const [renewed] = await store.renew([{ lease: slow.lease, begun: [] }], at(leaseMs * 3), at(leaseMs));
      expect(renewed).toEqual({ kind: "lost" });
      expect((await write(store, commit(fast.lease, boundary(1)), at(leaseMs))).kind).toBe("committed");
      await store.close();
    });
  });

  test("two connections are enough for two hundred writes at once (R-066)", async () => {
    const store = await place.open({ max: 2 });
    await store.migrate();
    const ids = Array.from({ length: 200 }, (_unused, n) => `i${n}`);
    const outcomes = await Promise.all(ids.map((id) => write(store, create(id))));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["created"]));
    expect((await store.countByStatus()).active).toBe(200);
    await store.close();
  });

  test("leases are renewed while work holds every connection (R-068)", async () => {
    const store = await place.open({ max: 2 });
    await store.migrate();
    const { lease } = await started(store, "a");
    const { lease: other } = await started(store, "b");
    const blocker = await place.connect();
    await blocker.query(
      `START TRANSACTION; SELECT id FROM ${place.namespaceOf(store)}_run WHERE id = ${other.runId} FOR UPDATE`,
    );
    const stuck = [1, 2].map(() => write(store, commit(other, boundary(1)), at(1)));
    const [answer] = await store.renew([{ lease, begun: [] }], at(leaseMs * 2), at(1));
    expect(answer?.kind).toBe("renewed");
    await blocker.query("ROLLBACK");
    await blocker.end();
    expect((await Promise.all(stuck)).map(({ kind }) => kind)).toEqual(["committed", "committed"]);
    await store.close();
  });

  test("a run whose row somebody holds costs the others no lease, and is asked about again", async () => {
    const store = await place.open({ max: 2 });
    await store.migrate();
    const { lease } = await started(store, "a");
    const { lease: held } = await started(store, "b");
    const gone = { ...lease, token: lease.token + 7 };
    const renewals = [lease, held, gone].map((each) => ({ lease: each, begun: [] }));
    const blocker = await place.connect();
    await blocker.query(
      `START TRANSACTION; SELECT id FROM ${place.namespaceOf(store)}_run WHERE id = ${held.runId} FOR UPDATE`,
    );
    const kinds = async (): Promise<string[]> =>
      (await store.renew(renewals, at(leaseMs * 2), at(1))).map(({ kind }) => kind);
    expect(await kinds()).toEqual(["renewed", "busy", "lost"]);
    await blocker.query("ROLLBACK");
    await blocker.end();
    expect(await kinds()).toEqual(["renewed", "renewed", "lost"]);
    await store.close();
  });

  describe("connections that the server closes (R-070)", () => {
    test("while they lie idle: the next call does not notice", async () => {
      const database = open({ max: 1 });
      await place.query(`KILL ${await threadOf(database)}`);
      expect(await threadOf(database)).toBeGreaterThan(0);
      await place.query(`KILL ${await threadOf(database)}`);
      await database.transact((tx) => tx.run([sql("UPDATE account SET balance = 3")]));
      expect(await balance()).toBe(3);
    });

    test("in the middle of a transaction: nothing of it is kept, and it may be repeated", async () => {
      const database = open({ max: 1 });
      const spend = database.transact(async (tx) => {
        const [result] = await tx.run([
          sql("SELECT CONNECTION_ID() AS id"),
          sql("UPDATE account SET balance = 3"),
        ]);
        await place.query(`KILL ${result?.rows[0]?.id}`);
        await tx.run([sql("UPDATE account SET balance = 4")]);
      });
      await expect(spend).rejects.toMatchObject({ failure: "unavailable" });
      expect(await balance()).toBe(100);
      expect(await threadOf(database)).toBeGreaterThan(0);
    });

    test("while the commit is on its way: whether it happened is said to be unknown (INV-42)", async () => {
      const database = open({ max: 1 });
      const other = await place.connect();
      await other.query("START TRANSACTION; UPDATE account SET balance = 50");
      const thread = await threadOf(database);
      const spend = database
        .transact((tx) => tx.commit([sql("UPDATE account SET balance = 3")]))
        .catch((error) => error);
      await expect
        .poll(() =>
          place.query("SELECT ID FROM information_schema.PROCESSLIST WHERE ID = ? AND INFO IS NOT NULL", [
            thread,
          ]),
        )
        .toHaveLength(1);
      await place.query(`KILL ${thread}`);
      expect(await spend).toMatchObject({ failure: "ambiguous" });
      await other.query("ROLLBACK");
      await other.end();
    });
  });

  test("an answer that does not come in time is given up, and its connection thrown away", async () => {
    const database = open({ max: 1, statementTimeoutMs: 500 });
    const thread = await threadOf(database);
    const unlimited =
      "SET SESSION autocommit = 1 /*M!100600 , max_statement_time = 0 */ /*!80000 , max_execution_time = 0 */";
    // The server's own limit is lifted, so that the driver's is the one that counts.
    const slow = database.run([sql(unlimited), sql("SELECT SLEEP(30)")]);
    await expect(slow).rejects.toMatchObject({
      failure: "ambiguous",
      message: expect.stringContaining("in time"),
    });
    expect(await threadOf(database)).not.toBe(thread);
    await place.query(`KILL ${thread}`).catch(() => {});
  });

  test("the server ends slow statements itself", async () => {
    const slow = open({ statementTimeoutMs: 1000 }).run([
      sql(
        "SELECT COUNT(*) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b, information_schema.COLLATIONS c, information_schema.COLLATIONS d",
      ),
    ]);
    await expect(slow).rejects.toMatchObject({ failure: "unavailable" });
  });

  test("a value that is larger than a packet goes in parts, or is refused before it is sent", async () => {
    const store = await place.open();
    await store.migrate();
    const [row] = await place.query("SELECT @@max_allowed_packet AS bytes");
    const bytes = row?.bytes as number;
    const part = { json: JSON.stringify("x".repeat(bytes / 4)), marks: null };
    const parts = ["a", "b", "c", "d", "e", "f"].map((id) => create(id, { params: part }));
    expect((await store.write(parts, at(0))).map(({ kind }) => kind)).toEqual(parts.map(() => "created"));
    const whole = { json: JSON.stringify("x".repeat(bytes)), marks: null };
    await expect(store.write([create("g", { params: whole })], at(0))).rejects.toMatchObject({
      failure: "too-large",
    });
    await store.close();
  });

  test("closing waits for what is under way, and afterwards everything is refused", async () => {
    const database = open();
    const under = database.run([sql("SELECT SLEEP(0.2) AS slept")]);
    await database.close();
    expect((await under)[0]?.rows).toEqual([{ slept: 0 }]);
    await expect(database.run([sql("SELECT 1")])).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await expect(database.transact(async () => 1)).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  test("a store that nobody closed does not keep the process from ending", () => {
    const module = `
      import { mysql } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
      const store = mysql({ url: ${JSON.stringify(place.url)}, namespace: "left_open" });
      await store.migrate();
      console.log(await store.nextDueAt(["x"]));
    `;
    const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", module];
    const { stdout, status } = spawnSync(process.execPath, flags, { encoding: "utf8", timeout: 60_000 });
    expect([stdout, status]).toEqual(["null\n", 0]);
  });

  test("names are qualified: another database under the same names is another", () => {
    expect(tableNames("a`b", "x").run).toBe("`a``b`.`x_run`");
  });
});

describe("a server that is not there", () => {
  test("is unavailable, and said where", async () => {
    const database = new MysqlDatabase(readOptions("mysql://127.0.0.1:1/x"));
    await expect(database.run([sql("SELECT 1")])).rejects.toMatchObject({
      failure: "unavailable",
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("127.0.0.1:1"),
    });
    await database.close();
  });

  test("or accepts and never speaks: the connection is given up in time", async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const database = new MysqlDatabase(
      readOptions({ host: "127.0.0.1", port, database: "x", connectTimeoutMs: 300 }),
    );
    await expect(database.run([sql("SELECT 1")])).rejects.toMatchObject({ failure: "unavailable" });
    await database.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
