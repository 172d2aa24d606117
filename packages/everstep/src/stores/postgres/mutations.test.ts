import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { integer as drizzleInteger, text as drizzleText, pgSchema } from "drizzle-orm/pg-core";
import { Kysely, PostgresDialect } from "kysely";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { Mutation } from "../../model/mutations.ts";
import type { StoreOutcome } from "../../store/store.ts";
import { started } from "../../testing/store-contract/acts.ts";
import { at, boundary, commit, completed } from "../../testing/store-contract/given.ts";
import type { PostgresClient } from "./driver.ts";
import type { PostgresStore } from "./index.ts";
import type { PostgresOptions } from "./options.ts";
import { asPool } from "./transactions.ts";

interface Tables {
  account: { key: string; amount: number };
}

describe.skipIf(postgresUrl === undefined)(
  "mutations on PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    afterAll(() => place.clear());
    let store: PostgresStore;
    let namespace = "";
    let lease: Lease;
    let number = 0;

    const openWith = async (options: Partial<PostgresOptions> = {}): Promise<void> => {
      store = place.open(options);
      await store.migrate();
      namespace = place.namespaceOf(store);
      await place.query(
        `CREATE TABLE "${namespace}".account (key text PRIMARY KEY, amount integer NOT NULL)`,
      );
      await place.query(`INSERT INTO "${namespace}".account VALUES ('taken', 1)`);
      lease = (await started(store, "a")).lease;
      number = 0;
    };
    beforeEach(async () => {
      await openWith();
      return () => store.close();
    });

    const attempt = async (...mutate: Mutation[]): Promise<StoreOutcome | undefined> => {
      number += 1;
      const made = boundary(number, { steps: [completed(number)] });
      const [outcome] = await store.write(
        [commit(lease, made, { mutations: { serviceCalls: [], mutate } })],
        at(1),
      );
      if (outcome?.kind !== "committed") number -= 1;
      return outcome;
    };
    const insert = (key: string): Mutation => {
      return (db: PostgresClient) => db.query(`INSERT INTO "${namespace}".account VALUES ($1, 1)`, [key]);
    };
    const accounts = async (): Promise<unknown[]> =>
      (await place.query(`SELECT key FROM "${namespace}".account ORDER BY key`)).map((row) => row.key);

    test("an author's statements are planned as on any connection, and the store's own as ever behind them", async () => {
      const settings = async (db: PostgresClient): Promise<unknown> => {
        const sql =
          "SELECT name, setting FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_seqscan', 'enable_mergejoin', " +
          "'enable_hashjoin', 'jit') ORDER BY name";
        return (await db.query(sql)).rows;
      };
      const usual = await settings({ query: async (sql: string) => ({ rows: await place.query(sql) }) });
      const seen: unknown[] = [];
      const look: Mutation = async (db: PostgresClient) => void seen.push(await settings(db));
      expect(await attempt(look)).toMatchObject({ kind: "committed" });
      expect(await attempt(look, look)).toMatchObject({ kind: "committed" });
      expect(seen).toEqual([usual, usual, usual]);
    });

    test("a connection that falls silent in an author's statement is no mistake of the author", async () => {
      await store.close();
      await openWith({ statementTimeoutMs: 200 });
      let isSilent = true;
      // The server is told to end nothing that takes long, so nobody but the driver notices.
      const wait: Mutation = async (db: PostgresClient) => {
        if (!isSilent) return;
        await db.query("SET LOCAL statement_timeout = 0");
        await db.query("SELECT pg_sleep(3)");
      };
      await expect(attempt(insert("b"), wait)).rejects.toMatchObject({
        failure: "unavailable",
        code: "STORE_UNAVAILABLE",
      });
      isSilent = false;
      number = 0;
      // What the server still holds of the first try is undone when it wakes up.
      expect(await attempt(insert("c"), wait)).toMatchObject({ kind: "committed" });
      expect(await accounts()).toEqual(["c", "taken"]);
    });

    test("several statements may be under way at once", async () => {
      const both: Mutation = (db) => Promise.all([insert("b")(db), insert("c")(db)]);
      expect(await attempt(both)).toMatchObject({ kind: "committed" });
      expect(await accounts()).toEqual(["b", "c", "taken"]);
    });

    test("a unique violation is a conflict, also when the author's code wrapped it", async () => {
      const wrapping: Mutation = async (db) => {
        try {
          await insert("taken")(db);
        } catch (cause) {
          throw new Error("could not open the account", { cause });
        }
      };
      expect(await attempt(insert("b"), wrapping)).toMatchObject({
        kind: "mutation-failed",
        conflict: true,
        error: { message: "could not open the account" },
      });
      expect(await accounts()).toEqual(["taken"]);
      expect((await store.listSteps(lease.runId, { limit: 10 })).items).toEqual([]);
    });

    describe("a rule that is checked only at COMMIT", () => {
      const lend = (key: string): Mutation => {
        const text = `INSERT INTO "${namespace}".loan VALUES ($1)`;
        return (db: PostgresClient) => db.query({ text, values: [key] });
      };
      beforeEach(async () => {
        const check = "DEFERRABLE INITIALLY DEFERRED";
        await place.query(
          `CREATE TABLE "${namespace}".loan (
             account text CONSTRAINT loan_account_fk REFERENCES "${namespace}".account ${check},
             CONSTRAINT one_loan UNIQUE (account) ${check})`,
        );
        await place.query(
          `CREATE FUNCTION "${namespace}".refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN IF NEW.account = 'taken' THEN RAISE 'no more loans'; END IF; RETURN NEW; END $$`,
        );
      });

      test("is the author's error, with its name: told once, and nothing is kept", async () => {
        let runs = 0;
        const counted: Mutation = (db) => {
          runs += 1;
          return lend("nobody")(db);
        };
        expect(await attempt(counted)).toMatchObject({
          kind: "mutation-failed",
          conflict: false,
          error: { code: "23503", constraint: "loan_account_fk" },
        });
        expect(runs).toBe(1);
        expect((await store.listSteps(lease.runId, { limit: 10 })).items).toEqual([]);
        expect(await attempt(insert("b"))).toMatchObject({ kind: "committed" });
      });

      test("is a conflict where a key is taken", async () => {
        expect(await attempt(lend("taken"))).toMatchObject({ kind: "committed" });
        expect(await attempt(lend("taken"))).toMatchObject({
          kind: "mutation-failed",
          conflict: true,
          error: { constraint: "one_loan" },
        });
      });

      test("may be a trigger that raises an error", async () => {
        await place.query(
          `CREATE CONSTRAINT TRIGGER enough AFTER INSERT ON "${namespace}".loan DEFERRABLE INITIALLY DEFERRED
           FOR EACH ROW EXECUTE FUNCTION "${namespace}".refuse()`,
        );
        expect(await attempt(lend("taken"))).toMatchObject({
          kind: "mutation-failed",
          conflict: false,
          error: { message: "no more loans" },
        });
      });
    });

    test("a statement that failed spoils the step, also when the author's code swallowed the error", async () => {
      const swallowing: Mutation = async (db) => {
        await Promise.resolve(insert("taken")(db)).catch(() => {});
      };
      expect(await attempt(swallowing)).toMatchObject({ kind: "mutation-failed", conflict: true });
      expect(await attempt(insert("b"))).toMatchObject({ kind: "committed" });
    });

    test("a savepoint of the author's own saves it", async () => {
      const careful: Mutation = async (db: PostgresClient) => {
        await db.query("SAVEPOINT mine");
        await Promise.resolve(insert("taken")(db)).catch(() => db.query("ROLLBACK TO SAVEPOINT mine"));
        await insert("b")(db);
      };
      expect(await attempt(careful)).toMatchObject({ kind: "committed" });
      expect(await accounts()).toEqual(["b", "taken"]);
    });

    test.each([
      "BEGIN",
      "commit",
      " /* x */ ROLLBACK",
      "-- x\nEND",
      "START TRANSACTION",
      "ABORT",
      "PREPARE TRANSACTION 'x'",
    ])("the transaction is the store's: %j is refused and nothing applied", async (sql) => {
      const meddling: Mutation = (db: PostgresClient) => db.query({ text: sql });
      expect(await attempt(insert("b"), meddling)).toMatchObject({
        kind: "mutation-failed",
        conflict: false,
        error: { code: "MUTATION_INVALID" },
      });
      expect(await accounts()).toEqual(["taken"]);
    });

    test("one that ends the transaction in a way nobody foresaw does not get its step recorded", async () => {
      const sly: Mutation = (db: PostgresClient) => db.query("SELECT 1; COMMIT");
      expect(await attempt(insert("b"), sly)).toMatchObject({
        kind: "mutation-failed",
        error: { code: "MUTATION_INVALID" },
      });
      expect((await store.listSteps(lease.runId, { limit: 10 })).items).toEqual([]);
    });

    test("one that ends the transaction and begins another does not get its step recorded", async () => {
      const outcome = await attempt((db: PostgresClient) =>
        db.query(`INSERT INTO "${namespace}".account VALUES ('b', 1); COMMIT; BEGIN`),
      );
      expect(outcome).toMatchObject({ kind: "mutation-failed", error: { code: "MUTATION_INVALID" } });
      expect(await attempt(insert("c"))).toMatchObject({ kind: "committed" });
    });

    test("a client that was kept does nothing more once the mutation is over", async () => {
      let kept: PostgresClient | undefined;
      await attempt((db) => {
        kept = db;
      });
      expect(() => kept?.query("SELECT 1")).toThrow(expect.objectContaining({ code: "MUTATION_INVALID" }));
      for (const name of ["release", "end", "connect"]) {
        const call = (db: Record<string, () => unknown>) => db[name]?.();
        expect(await attempt(call as Mutation)).toMatchObject({ error: { code: "MUTATION_INVALID" } });
      }
    });

    test("a commit that is sent again while it is under way is applied once, and both hear so (INV-42)", async () => {
      let ready = 0;
      const together: Mutation = async () => {
        ready += 1;
        for (let n = 0; n < 50 && ready < 2; n += 1) await place.query("SELECT pg_sleep(0.01)");
      };
      const request = commit(lease, boundary(1, { steps: [completed(1)] }), {
        mutations: { serviceCalls: [], mutate: [together, insert("b")] },
      });
      const outcomes = await Promise.all([store.write([request], at(1)), store.write([request], at(1))]);
      expect(outcomes.flat()).toMatchObject([{ kind: "committed" }, { kind: "committed" }]);
      expect(await accounts()).toEqual(["b", "taken"]);
    });

    test("a deadlock between authors' rows is tried again and nobody notices", async () => {
      await place.query(`INSERT INTO "${namespace}".account VALUES ('x', 0), ('y', 0)`);
      const other = await started(store, "b");
      const raise = (key: string): Mutation => {
        return (db: PostgresClient) =>
          db.query(`UPDATE "${namespace}".account SET amount = amount + 1 WHERE key = $1`, [key]);
      };
      let ready = 0;
      const together: Mutation = async () => {
        ready += 1;
        for (let n = 0; n < 50 && ready < 2; n += 1) await place.query("SELECT pg_sleep(0.01)");
      };
      const write = (of: Lease, ...mutate: Mutation[]) =>
        store.write([commit(of, boundary(1), { mutations: { serviceCalls: [], mutate } })], at(1));
      const outcomes = await Promise.all([
        write(lease, raise("x"), together, raise("y")),
        write(other.lease, raise("y"), together, raise("x")),
      ]);
      expect(outcomes.flat()).toMatchObject([{ kind: "committed" }, { kind: "committed" }]);
      const rows = await place.query(`SELECT amount FROM "${namespace}".account WHERE key IN ('x', 'y')`);
      expect(rows).toEqual([{ amount: 2 }, { amount: 2 }]);
    });

    describe("with Kysely", () => {
      const handle = (client: PostgresClient): Kysely<Tables> =>
        new Kysely<Tables>({ dialect: new PostgresDialect({ pool: asPool(client) }) });

      test("its rows commit with the step, and a violation it wraps is a conflict", async () => {
        await store.close();
        await openWith({ handle });
        const add =
          (key: string): Mutation =>
          (db: Kysely<Tables>) =>
            db.withSchema(namespace).insertInto("account").values({ key, amount: 2 }).execute();
        expect(await attempt(add("k"))).toMatchObject({ kind: "committed" });
        expect(await attempt(add("l"), add("taken"))).toMatchObject({
          kind: "mutation-failed",
          conflict: true,
        });
        expect(await accounts()).toEqual(["k", "taken"]);
        const nested: Mutation = (db: Kysely<Tables>) => db.transaction().execute(async () => {});
        expect(await attempt(nested)).toMatchObject({ error: { code: "MUTATION_INVALID" } });
      });
    });

    describe("with Drizzle", () => {
      test("its rows commit with the step, and a violation it wraps is a conflict", async () => {
        await store.close();
        await openWith({ handle: (client) => drizzle({ client: client as never }) });
        const account = pgSchema(namespace).table("account", {
          key: drizzleText("key").primaryKey(),
          amount: drizzleInteger("amount").notNull(),
        });
        const add =
          (key: string): Mutation =>
          async (db: NodePgDatabase) => {
            await db.insert(account).values({ key, amount: 2 });
          };
        expect(await attempt(add("k"))).toMatchObject({ kind: "committed" });
        expect(await attempt(add("l"), add("taken"))).toMatchObject({
          kind: "mutation-failed",
          conflict: true,
        });
        expect(await accounts()).toEqual(["k", "taken"]);
      });
    });
  },
);
