import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { at, create, ref } from "../../testing/store-contract/given.ts";
import { tables } from "../sql/schema/table.ts";
import { mysql } from "./index.ts";
import { migrations } from "./schema.ts";

const newest = migrations.at(-1)?.version ?? 0;

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  beforeAll(place.create);
  afterAll(place.drop);

  let count = 0;
  const fresh = (): string => {
    count += 1;
    return `n${count}`;
  };
  const tablesOf = async (namespace: string): Promise<string[]> => {
    const rows = await place.query("SHOW TABLES LIKE ?", [`${namespace}\\_%`]);
    return rows.map((row) => String(Object.values(row)[0])).sort();
  };

  test("processes of every earlier version go on beside the newest schema", () => {
    expect(migrations.map(({ oldestCompatible }) => oldestCompatible)).toEqual(migrations.map(() => 1));
  });

  test("nothing is connected before the first call", async () => {
    await mysql("mysql://nobody@nowhere.invalid/x").close();
  });

  test("a plan is the statements that would be run, and changes nothing", async () => {
    const namespace = fresh();
    const store = await place.open({ namespace });
    const { from, to, statements } = await store.migrate({ plan: true });
    expect([from, to]).toEqual([0, newest]);
    expect(await tablesOf(namespace)).toEqual([]);
    for (const statement of statements) await place.query(statement);
    expect(await store.migrate()).toEqual({ from: newest, to: newest, statements: [] });
    expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
    await store.close();
  });

  test("twenty first migrations at once all succeed (LIV-8)", async () => {
    const namespace = fresh();
    const stores = await Promise.all(Array.from({ length: 20 }, () => place.open({ namespace, max: 1 })));
    const reports = await Promise.all(stores.map((store) => store.migrate()));
    expect(reports.filter(({ from }) => from === 0)).toHaveLength(1);
    expect(new Set(reports.map(({ to }) => to))).toEqual(new Set([newest]));
    await Promise.all(stores.map((store, n) => store.write([create(`i${n}`)], at(0))));
    expect((await stores[0]?.countByStatus())?.active).toBe(20);
    for (const store of stores) await store.close();
  });

  test("a migration that was cut off after any of its statements is finished by the next", async () => {
    const planned = await place.open({ namespace: fresh() });
    const { length } = (await planned.migrate({ plan: true })).statements;
    await planned.close();
    for (let done = 0; done < length; done += 1) {
      const namespace = fresh();
      const store = await place.open({ namespace });
      const { statements } = await store.migrate({ plan: true });
      for (const statement of statements.slice(0, done)) await place.query(statement);
      expect(await store.migrate()).toMatchObject({ to: newest });
      expect(await tablesOf(namespace)).toEqual(tables.map((table) => `${namespace}_${table}`).sort());
      expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
      await store.close();
      for (const table of tables) await place.query(`DROP TABLE ${namespace}_${table}`);
    }
  });

  test("a migration waits for one that is under way, and finds its work done", async () => {
    const namespace = fresh();
    const store = await place.open({ namespace });
    const other = await place.connect();
    const lock = "CONCAT('everstep ', SHA1(?))";
    await other.query(`SELECT GET_LOCK(${lock}, 5)`, [`${place.database}\n${namespace}`]);
    const { statements } = await store.migrate({ plan: true });
    const migrating = store.migrate();
    await expect
      .poll(() =>
        place.query("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT GET_LOCK%'"),
      )
      .toHaveLength(1);
    for (const statement of statements) await other.query(statement);
    await other.end();
    expect(await migrating).toEqual({ from: newest, to: newest, statements: [] });
    await store.close();
  });

  test("a schema that needs newer code is refused, with both versions, and left alone (R-089)", async () => {
    const store = await place.open({ namespace: fresh() });
    await store.migrate();
    await place.query(
      `UPDATE ${place.namespaceOf(store)}_meta SET value = 9 WHERE name IN ('schema_version', 'oldest_compatible')`,
    );
    await expect(store.migrate()).rejects.toMatchObject({
      code: "SCHEMA_TOO_NEW",
      message: expect.stringMatching(
        new RegExp(`schema version 9.*this everstep knows ${newest}.*update everstep`, "s"),
      ),
    });
    await store.close();
  });

  test("a newer schema that older code may use is used (R-089)", async () => {
    const store = await place.open({ namespace: fresh() });
    await store.migrate();
    await place.query(`UPDATE ${place.namespaceOf(store)}_meta SET value = 9 WHERE name = 'schema_version'`);
    expect(await store.migrate()).toEqual({ from: 9, to: 9, statements: [] });
    expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
    await store.close();
  });

  test.each(["meta", "log"])(
    "a table %s of another making under our name is refused, and nothing is changed",
    async (table) => {
      const namespace = fresh();
      await place.query(`CREATE TABLE ${namespace}_${table} (name INT, value INT)`);
      const store = await place.open({ namespace });
      await expect(store.migrate()).rejects.toMatchObject({
        code: "STORE_NOT_OURS",
        message: expect.stringMatching(new RegExp(`${namespace}_${table}.*another \`namespace\``, "s")),
      });
      expect(await tablesOf(namespace)).toEqual([`${namespace}_${table}`]);
      await store.close();
    },
  );

  test("two namespaces in one database know nothing of each other", async () => {
    const one = await place.open({ namespace: fresh() });
    const two = await place.open({ namespace: fresh() });
    await one.migrate();
    await two.migrate();
    await one.write([create("a")], at(0));
    expect(await two.getInstance(ref("a"))).toBeUndefined();
    await one.close();
    await two.close();
  });

  test("without its tables a store says what to do", async () => {
    const store = await place.open({ namespace: fresh() });
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("migrate()"),
    });
    await store.close();
  });

  test("a database that does not exist is named", async () => {
    const store = await place.open({ namespace: fresh(), database: `${place.database}_none` });
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringMatching(/_none" on .*CREATE DATABASE/),
    });
    await store.close();
  });

  describe("with a user of few rights", () => {
    const user = `u_${place.database.slice(-8)}`;
    const asUser = { user, password: "few" };
    beforeAll(async () => {
      await place.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'few'`);
      await place.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${place.database}.* TO '${user}'@'%'`);
    });
    afterAll(async () => {
      await place.query(`DROP USER '${user}'@'%'`);
    });

    test("reading and writing rows is enough to work", async () => {
      const namespace = fresh();
      const owner = await place.open({ namespace });
      await owner.migrate();
      const store = await place.open({ namespace, ...asUser });
      expect(await store.migrate()).toEqual({ from: newest, to: newest, statements: [] });
      expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
      expect(Array.isArray(await store.warnings())).toBe(true);
      await store.close();
      await owner.close();
    });

    test("a migration without the right to create tables says which rights are needed", async () => {
      const store = await place.open({ namespace: fresh(), ...asUser });
      await expect(store.migrate()).rejects.toMatchObject({
        failure: "fatal",
        message: expect.stringMatching(/CREATE/),
      });
      await store.close();
    });

    test("a wrong password is told from a server that is down", async () => {
      const store = await place.open({ namespace: fresh(), user, password: "wrong" });
      const failure = await store.migrate().catch((error) => error);
      expect(failure).toMatchObject({ failure: "fatal", message: expect.stringContaining("login") });
      expect(failure.message).not.toContain("wrong");
      await store.close();
    });
  });
});
