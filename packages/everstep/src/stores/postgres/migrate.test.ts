import { afterAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { at, create, ref } from "../../testing/store-contract/given.ts";
import { migrations } from "./schema.ts";

const newest = migrations.at(-1)?.version ?? 0;

describe.skipIf(postgresUrl === undefined)(
  "migrating PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    afterAll(() => place.clear());

    const tablesOf = async (namespace: string): Promise<readonly unknown[]> => {
      const rows = await place.query(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1",
        [namespace],
      );
      return rows.map((row) => row.table_name);
    };

    test("processes of every earlier version go on beside the newest schema", () => {
      expect(migrations.map(({ oldestCompatible }) => oldestCompatible)).toEqual(migrations.map(() => 1));
    });

    test("twenty processes that migrate an empty database at once all succeed", async () => {
      const first = place.open({ max: 1 });
      const others = Array.from({ length: 19 }, () => place.reopen(first, { max: 1 }));
      const reports = await Promise.all([first, ...others].map((store) => store.migrate()));
      expect(reports.map(({ to }) => to)).toEqual(reports.map(() => newest));
      expect(reports.filter(({ statements }) => statements.length > 0)).toHaveLength(1);
      await Promise.all([first, ...others].map((store) => store.close()));
    });

    test("a plan is the SQL that a person could run, and running it is all there is to do", async () => {
      const store = place.open();
      const { from, to, statements } = await store.migrate({ plan: true });
      expect([from, to]).toEqual([0, newest]);
      expect(statements[0]).toMatch(/^CREATE SCHEMA/);
      expect(await tablesOf(place.namespaceOf(store))).toEqual([]);
      for (const statement of statements) await place.query(statement);
      expect(await store.migrate()).toEqual({ from: newest, to: newest, statements: [] });
      expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
      await store.close();
    });

    test("without tables every call says what to do", async () => {
      const store = place.open();
      for (const call of [() => store.getInstance(ref("a")), () => store.write([create("a")], at(0))]) {
        await expect(call()).rejects.toMatchObject({
          code: "STORE_FAILED",
          message: expect.stringContaining("migrate()"),
        });
      }
      await store.close();
    });

    test("a schema that needs newer code is refused, with both versions, and left alone (R-089)", async () => {
      const store = place.open();
      await store.migrate();
      await place.query(
        `UPDATE "${place.namespaceOf(store)}".meta SET value = 99 WHERE name IN ('schema_version', 'oldest_compatible')`,
      );
      await expect(store.migrate()).rejects.toMatchObject({
        code: "SCHEMA_TOO_NEW",
        message: expect.stringMatching(/version 99/),
      });
      await store.close();
    });

    test("a newer schema that older code may use is used (R-089)", async () => {
      const store = place.open();
      await store.migrate();
      await place.query(
        `UPDATE "${place.namespaceOf(store)}".meta SET value = 99 WHERE name = 'schema_version'`,
      );
      expect(await store.migrate()).toEqual({ from: 99, to: 99, statements: [] });
      await store.close();
    });

    test("a table of another making under our name is refused, and nothing is changed", async () => {
      const store = place.open();
      const namespace = place.namespaceOf(store);
      await place.query(`CREATE SCHEMA "${namespace}"`);
      await place.query(`CREATE TABLE "${namespace}".meta (key text, content text)`);
      await expect(store.migrate()).rejects.toMatchObject({
        code: "STORE_NOT_OURS",
        message: expect.stringMatching(/another `namespace`/),
      });
      expect(await tablesOf(namespace)).toEqual(["meta"]);
      await store.close();
    });

    test("a migration that cannot be finished leaves nothing behind", async () => {
      const store = place.open();
      const namespace = place.namespaceOf(store);
      await place.query(`CREATE SCHEMA "${namespace}"`);
      await place.query(`CREATE TABLE "${namespace}".log (mine text)`);
      await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_FAILED" });
      expect(await tablesOf(namespace)).toEqual(["log"]);
      await place.query(`DROP TABLE "${namespace}".log`);
      expect(await store.migrate()).toMatchObject({ from: 0, to: newest });
      await store.close();
    });

    test("a user who may not create schemas needs one that is there", async () => {
      const store = place.open();
      const namespace = place.namespaceOf(store);
      const user = `${namespace}_user`;
      await place.query(`CREATE ROLE ${user} LOGIN PASSWORD 'p'`);
      try {
        const limited = place.reopen(store, { user, password: "p" });
        const [database] = await place.query("SELECT current_database() AS name");
        await place.query(`REVOKE CREATE ON DATABASE "${database?.name}" FROM ${user}`);
        await expect(limited.migrate()).rejects.toMatchObject({
          code: "STORE_FAILED",
          failure: "fatal",
          message: expect.stringMatching(/right.*CREATE on the database/s),
        });
        await place.query(`CREATE SCHEMA "${namespace}" AUTHORIZATION ${user}`);
        expect(await limited.migrate()).toMatchObject({ from: 0, to: newest });
        expect(await limited.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
        await limited.close();
      } finally {
        await place.query(`DROP SCHEMA IF EXISTS "${namespace}" CASCADE`);
        await place.query(`DROP OWNED BY ${user}`);
        await place.query(`DROP ROLE ${user}`);
        await store.close();
      }
    });

    test("a database that is set to be read only is named as such", async () => {
      const store = place.open();
      const user = `${place.namespaceOf(store)}_reader`;
      await place.query(`CREATE ROLE ${user} LOGIN PASSWORD 'p'`);
      await place.query(`ALTER ROLE ${user} SET default_transaction_read_only = on`);
      try {
        const reader = place.reopen(store, { user, password: "p" });
        await expect(reader.migrate()).rejects.toMatchObject({
          code: "STORE_READ_ONLY",
          message: expect.stringMatching(/default_transaction_read_only/),
        });
        await reader.close();
      } finally {
        await place.query(`DROP ROLE ${user}`);
        await store.close();
      }
    });

    test("two namespaces know nothing of each other, whatever the search_path (R-074)", async () => {
      const one = place.open();
      const two = place.open();
      await one.migrate();
      await two.migrate();
      const [database] = await place.query("SELECT current_user AS name");
      const hostile = place.namespaceOf(two);
      const misled = place.reopen(one, { url: `${postgresUrl}?options=-c%20search_path%3D${hostile}` });
      await misled.write([create("a")], at(0));
      expect(database?.name).toBeDefined();
      expect(await two.getInstance(ref("a"))).toBeUndefined();
      expect(await one.getInstance(ref("a"))).toMatchObject({ instanceId: "a" });
      await Promise.all([one, two, misled].map((store) => store.close()));
    });
  },
);
