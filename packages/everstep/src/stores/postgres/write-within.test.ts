import { drizzle } from "drizzle-orm/node-postgres";
import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { suspended } from "../../testing/store-contract/acts.ts";
import { at, awaiting, create, never, ref, sendEvent } from "../../testing/store-contract/given.ts";
import type { PostgresStore } from "./index.ts";
import { drizzleTransaction, kyselyTransaction } from "./transactions.ts";

describe.skipIf(postgresUrl === undefined)(
  "writing in a caller's transaction on PostgreSQL (set EVERSTEP_POSTGRES_URL)",
  () => {
    const place = postgresPlace();
    let store: PostgresStore;
    let pool: pg.Pool;
    beforeAll(async () => {
      pool = new pg.Pool({ connectionString: postgresUrl as string, max: 4 });
      store = place.open();
      await store.migrate();
    });
    afterAll(async () => {
      await store.close();
      await pool.end();
      await place.clear();
    });
    const isThere = async (id: string): Promise<boolean> => (await store.getInstance(ref(id))) !== undefined;

    test("a Kysely transaction commits or rolls back with its instances, whatever plugins it has", async () => {
      const kysely = new Kysely<Record<string, never>>({
        dialect: new PostgresDialect({ pool }),
        plugins: [new CamelCasePlugin()],
      });
      await kysely.transaction().execute(async (tx) => {
        const outcomes = await store.writeWithin(kyselyTransaction(tx), [create("k1"), create("k1")], at(0));
        expect(outcomes.map(({ kind }) => kind)).toEqual(["created", "exists"]);
        expect(await isThere("k1")).toBe(false);
      });
      expect(await isThere("k1")).toBe(true);
      const failing = kysely.transaction().execute(async (tx) => {
        await store.writeWithin(kyselyTransaction(tx), [create("k2")], at(0));
        throw new Error("changed my mind");
      });
      await expect(failing).rejects.toThrow("changed my mind");
      expect(await isThere("k2")).toBe(false);
    });

    test("a Drizzle transaction commits or rolls back with its instances and events", async () => {
      await suspended(store, "waiting", [awaiting(1, "x", never)], never);
      const db = drizzle({ client: pool });
      await db.transaction(async (tx) => {
        const given = [create("d1"), sendEvent("waiting", "e1", "x")];
        expect(await store.writeWithin(drizzleTransaction(tx), given, at(0))).toMatchObject([
          { kind: "created" },
          { kind: "accepted", woke: true },
        ]);
      });
      expect(await isThere("d1")).toBe(true);
      const failing = db.transaction(async (tx) => {
        await store.writeWithin(drizzleTransaction(tx), [create("d2")], at(0));
        tx.rollback();
      });
      await expect(failing).rejects.toThrow();
      expect(await isThere("d2")).toBe(false);
    });

    test("what is no such transaction is refused", () => {
      for (const given of [undefined, null, {}, 1]) {
        expect(() => kyselyTransaction(given as never)).toThrow(
          expect.objectContaining({ code: "INVALID_ARGUMENT" }),
        );
        expect(() => drizzleTransaction(given as never)).toThrow(
          expect.objectContaining({ code: "INVALID_ARGUMENT" }),
        );
      }
    });

    test("a transaction on another database is refused, though there are tables of the same names", async () => {
      const url = new URL(postgresUrl as string);
      const name = place.namespaceOf(store);
      await place.query(`CREATE DATABASE "${name}"`);
      url.pathname = `/${name}`;
      const elsewhere = postgresPlace(url.href);
      const other = elsewhere.open({ namespace: name });
      await other.migrate();
      const client = await elsewhere.client();
      await client.query("BEGIN");
      await expect(store.writeWithin(client, [create("lost")], at(0))).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining(`database "${name}"`),
      });
      // It can still be used for what it is.
      expect(await other.writeWithin(client, [create("found")], at(0))).toMatchObject([{ kind: "created" }]);
      await client.query("COMMIT");
      client.release();
      expect([await isThere("lost"), await other.getInstance(ref("lost"))]).toEqual([false, undefined]);
      await other.close();
      await elsewhere.clear();
      await place.query(`DROP DATABASE "${name}"`);
    });

    test("a client without a transaction is refused, and a pool", async () => {
      const client = await pool.connect();
      for (const given of [client, pool]) {
        await expect(store.writeWithin(given, [create("alone")], at(0))).rejects.toMatchObject({
          code: "INVALID_ARGUMENT",
          message: expect.stringContaining("BEGIN"),
        });
      }
      client.release();
      expect(await isThere("alone")).toBe(false);
    });

    test("whose database it is, is asked once for every client", async () => {
      const client = await pool.connect();
      const texts: string[] = [];
      const counted = {
        query: (text: string, values: unknown[]) => {
          texts.push(text);
          return client.query(text, values);
        },
      };
      await client.query("BEGIN");
      await store.writeWithin(counted, [create("asked-1")], at(0));
      await store.writeWithin(counted, [create("asked-2")], at(0));
      await client.query("COMMIT");
      client.release();
      expect(texts.filter((text) => text.includes("current_database")).length).toBe(1);
    });

    test("an id that somebody else took meanwhile does not spoil the caller's transaction", async () => {
      const one = await pool.connect();
      const two = await pool.connect();
      await one.query("BEGIN");
      await two.query("BEGIN");
      await store.writeWithin(one, [create("same")], at(0));
      const second = store.writeWithin(two, [create("same")], at(0));
      await place.query("SELECT pg_sleep(0.05)");
      await one.query("COMMIT");
      expect(await second).toMatchObject([{ kind: "exists" }]);
      expect((await two.query("SELECT 1 AS still")).rows).toEqual([{ still: 1 }]);
      await two.query("COMMIT");
      one.release();
      two.release();
    });

    test("a lease cannot be had in a transaction that may yet be rolled back", async () => {
      const client = await pool.connect();
      await client.query("BEGIN");
      const given = [create("leased", { lease: { owner: "me", until: never } })];
      expect(await store.writeWithin(client, given, at(0))).toMatchObject([{ kind: "created", claim: null }]);
      await client.query("COMMIT");
      client.release();
    });
  },
);
