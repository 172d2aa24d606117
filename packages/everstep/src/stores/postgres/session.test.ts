import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { startWire } from "../../../../../tests/support/postgres-wire.ts";
import { started } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  never,
  pause,
  ref,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { PostgresClient } from "./driver.ts";
import type { PostgresStore } from "./index.ts";
import { readOptions } from "./options.ts";
import { PostgresDatabase } from "./session.ts";

const text = (sql: string, ...values: unknown[]) => ({ sql, values });

describe.skipIf(postgresUrl === undefined)(
  "connections to PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    const table = `session_test_${process.pid}`;
    const opened: PostgresDatabase[] = [];
    const open = (options: object = {}): PostgresDatabase => {
      const database = new PostgresDatabase(readOptions({ url: postgresUrl as string, max: 2, ...options }));
      opened.push(database);
      return database;
    };
    const keys = async (): Promise<unknown[]> =>
      (await place.query(`SELECT key FROM ${table} ORDER BY key`)).map((row) => row.key);

    beforeAll(() => place.query(`CREATE TABLE ${table} (key text PRIMARY KEY, note text)`));
    afterAll(async () => {
      for (const database of opened) await database.close();
      await place.query(`DROP TABLE ${table}`);
      await place.clear();
    });

    test("a failure in the middle fails the whole, also when COMMIT was on its way with it", async () => {
      const database = open();
      const failing = database.transact((tx) =>
        tx.commit([
          text(`INSERT INTO ${table} (key) VALUES (?)`, "m1"),
          text(`INSERT INTO ${table} (key) VALUES (?)`, "m1"),
          text(`INSERT INTO ${table} (key) VALUES (?)`, "m2"),
        ]),
      );
      await expect(failing).rejects.toMatchObject({ failure: "constraint", details: { code: "23505" } });
      expect(await keys()).toEqual([]);
      expect((await database.run([text("SELECT 1 AS one")]))[0]?.rows).toEqual([{ one: 1 }]);
    });

    test("statements outside of a transaction stop at the first that fails too", async () => {
      const database = open();
      const failing = database.run([
        text("SELECT 1/0"),
        text(`INSERT INTO ${table} (key) VALUES (?)`, "behind"),
      ]);
      await expect(failing).rejects.toMatchObject({ failure: "invalid" });
      expect(await keys()).toEqual([]);
    });

    test("a transaction that throws leaves nothing behind, and its connection is good for the next", async () => {
      const database = open({ max: 1 });
      const thrown = new Error("mine");
      const failing = database.transact(async (tx) => {
        await tx.run([text(`INSERT INTO ${table} (key) VALUES (?)`, "thrown")]);
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect(await keys()).toEqual([]);
      const done = await database.transact(async (tx) => {
        await tx.run([text(`INSERT INTO ${table} (key) VALUES (?)`, "kept")]);
        return "done";
      });
      expect(done).toBe("done");
      expect(await keys()).toEqual(["kept"]);
      await place.query(`DELETE FROM ${table}`);
    });

    test("any text comes back as it was, wherever it stood", async () => {
      const database = open();
      const values = ["nul \u0000", "half \ud800", 'quote " back \\ {a,b} NULL', "", "ä😀"];
      const [listed] = await database.run([text("SELECT v.t FROM unnest(?::text[]) AS v (t)", values)]);
      expect(listed?.rows.map((row) => row.t)).toEqual(values);
      const [plain] = await database.run([text("SELECT ?::text AS t", values[0])]);
      expect(plain?.rows).toEqual([{ t: values[0] }]);
    });

    test("200 writes at once share two connections, and none mixes with another's transaction (R-066)", async () => {
      const database = open({ max: 2 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 200 }, (_unused, n) =>
          database.transact(async (tx) => {
            const note = n % 10 === 0 ? "rolled back" : "committed";
            await tx.run([text(`INSERT INTO ${table} (key, note) VALUES (?, ?)`, `k${n} a`, note)]);
            await tx.run([text(`INSERT INTO ${table} (key, note) VALUES (?, ?)`, `k${n} b`, note)]);
            if (n % 10 === 0) throw new Error("rolled back");
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(20);
      expect(await place.query(`SELECT note, count(*)::int AS rows FROM ${table} GROUP BY note`)).toEqual([
        { note: "committed", rows: 360 },
      ]);
      await place.query(`DELETE FROM ${table}`);
    });

    test("200 calls of a store at once, quick ones and long ones, get by with two connections", async () => {
      const store = place.open({ max: 2 });
      await store.migrate();
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_unused, n) =>
          store.write(n % 2 === 0 ? [create(`i${n}`)] : [create(`i${n}`), pause(`i${n}`)], at(0)),
        ),
      );
      expect(outcomes.flat().filter(({ kind }) => kind === "created")).toHaveLength(200);
      expect(await store.countByStatus(workflow)).toMatchObject({ active: 100, paused: 100 });
      await store.close();
    });

    test("leases are renewed while every connection for work is taken (R-068)", async () => {
      const store = place.open({ max: 2 });
      await store.migrate();
      const claims = [await started(store, "a"), await started(store, "b"), await started(store, "c")];
      let letGo: () => void = () => {};
      const gate = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const slow = async (db: PostgresClient): Promise<void> => {
        await db.query("SELECT 1");
        await gate;
      };
      const commits = claims.map(({ lease }) =>
        store.write(
          [
            commit(lease, boundary(1, { steps: [completed(1)] }), {
              mutations: { serviceCalls: [], mutate: [slow] },
            }),
          ],
          at(1),
        ),
      );
      const other = await store.renew(
        [{ lease: (claims[2] as (typeof claims)[0]).lease, begun: [] }],
        never,
        at(1),
      );
      expect(other).toMatchObject([{ kind: "renewed" }]);
      letGo();
      expect((await Promise.all(commits)).flat().map(({ kind }) => kind)).toEqual(
        claims.map(() => "committed"),
      );
      await store.close();
    });

    test("a run whose row somebody holds costs the others no lease, and is asked about again", async () => {
      for (const pooled of [false, true]) {
        const store = place.open({ max: 2, pooled });
        await store.migrate();
        const { lease } = await started(store, "a");
        const { lease: held } = await started(store, "b");
        const gone = { ...lease, token: lease.token + 7 };
        const renewals = [lease, held, gone].map((each) => ({ lease: each, begun: [] }));
        const client = await place.client();
        await client.query("BEGIN");
        const run = `"${place.namespaceOf(store)}".run`;
        await client.query(`SELECT 1 FROM ${run} WHERE id = $1 FOR UPDATE`, [held.runId]);
        const kinds = async (): Promise<string[]> =>
          (await store.renew(renewals, never, at(1))).map(({ kind }) => kind);
        expect(await kinds()).toEqual(["renewed", "busy", "lost"]);
        await client.query("ROLLBACK");
        client.release();
        expect(await kinds()).toEqual(["renewed", "renewed", "lost"]);
        await store.close();
      }
    });

    describe("when the server ends connections (R-070)", () => {
      /** Ends every connection that was last used for the store's tables, as a restart of the server would. */
      const terminate = async (store: PostgresStore): Promise<number> => {
        const ended = await place.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'everstep' AND query LIKE $1`,
          [`%${place.namespaceOf(store)}%`],
        );
        return ended.length;
      };

      test("idle ones are replaced, and the next call succeeds", async () => {
        const store = place.open({ max: 3 });
        await store.migrate();
        await Promise.all(["a", "b", "c"].map((id) => store.write([create(id)], at(0))));
        await Promise.all(["a", "b", "c", "d", "e"].map((id) => store.getInstance(ref(id))));
        expect(await terminate(store)).toBeGreaterThan(0);
        await place.query("SELECT pg_sleep(0.1)");
        expect((await store.countByStatus(workflow)).active).toBe(3);
        expect(await store.write([create("d")], at(0))).toMatchObject([{ kind: "created" }]);
        await store.close();
      });

      test("a busy one fails its call alone, as unavailable, and nothing is left behind", async () => {
        const store = place.open({ max: 2 });
        await store.migrate();
        const { lease } = await started(store, "a");
        const kill = async (db: PostgresClient): Promise<void> => {
          await db.query("SELECT pg_terminate_backend(pg_backend_pid())");
        };
        const dying = store.write(
          [
            commit(lease, boundary(1, { next: complete() }), {
              mutations: { serviceCalls: [], mutate: [kill] },
            }),
          ],
          at(1),
        );
        await expect(dying).rejects.toMatchObject({ failure: "unavailable", code: "STORE_UNAVAILABLE" });
        expect(await store.write([commit(lease, boundary(1, { next: complete() }))], at(1))).toMatchObject([
          { kind: "committed" },
        ]);
        await store.close();
      });

      test("all at once, in the middle of everything: the process survives and the next calls succeed", async () => {
        const store = place.open({ max: 4 });
        await store.migrate();
        const writes = Array.from({ length: 60 }, (_unused, n) => store.write([create(`i${n}`)], at(0)));
        const work = Promise.allSettled(writes);
        await terminate(store);
        const outcomes = await work;
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") {
            expect(["unavailable", "ambiguous"]).toContain((outcome.reason as { failure: string }).failure);
          }
        }
        const again = Array.from({ length: 60 }, (_unused, n) => store.write([create(`i${n}`)], at(0)));
        await Promise.all(again);
        expect((await store.countByStatus(workflow)).active).toBe(60);
        await store.close();
      });
    });

    describe("when the answer to a commit is lost", () => {
      test("the call is ambiguous, and repeating it does nothing twice (R-073)", async () => {
        const wire = await startWire(postgresUrl as string);
        const store = place.open({ url: wire.url, max: 1 });
        await store.migrate();
        const { lease } = await started(store, "a");
        wire.loseAnswersTo("step 1#1");
        const request = commit(lease, boundary(1, { steps: [completed(1)] }));
        await expect(store.write([request], at(1))).rejects.toMatchObject({ failure: "ambiguous" });
        wire.loseAnswersTo("");
        expect(await store.write([request], at(1))).toMatchObject([{ kind: "committed" }]);
        expect((await store.listSteps(lease.runId, { limit: 10 })).items).toHaveLength(1);
        await store.close();
        await wire.close();
      });

      test("a read that got no answer is unavailable", async () => {
        const wire = await startWire(postgresUrl as string);
        const store = place.open({ url: wire.url, max: 1 });
        await store.migrate();
        wire.loseAnswersTo("nobody");
        await expect(store.getInstance(ref("nobody"))).rejects.toMatchObject({ failure: "unavailable" });
        await store.close();
        await wire.close();
      });
    });

    test("behind a pooler nothing is prepared and nothing set for the session, and all goes as ever", async () => {
      const store = place.open({ pooled: true, max: 2 });
      await store.migrate();
      const { lease } = await started(store, "a");
      const last = commit(lease, boundary(1, { steps: [completed(1)], next: complete() }));
      expect(await store.write([last, create("b")], at(1))).toMatchObject([
        { kind: "committed" },
        { kind: "created" },
      ]);
      expect(await store.write([create("c"), pause("b")], at(1))).toMatchObject([
        { kind: "created" },
        { kind: "changed" },
      ]);
      const database = open({ pooled: true, max: 1 });
      const read =
        "SELECT current_setting('lock_timeout') AS lock, current_setting('plan_cache_mode') AS plans";
      expect((await database.run([text(read)]))[0]?.rows).toEqual([{ lock: "0", plans: "auto" }]);
      const within = await database.transact((tx) => tx.run([text(read)]));
      expect(within[0]?.rows).toMatchObject([{ lock: "5s" }]);
      expect(
        (await database.run([text("SELECT count(*)::int AS n FROM pg_prepared_statements")]))[0]?.rows,
      ).toEqual([{ n: 0 }]);
      await store.close();
    });

    test("a call that waits too long for a row says so, and the row's owner is not disturbed", async () => {
      const store = place.open({ lockTimeoutMs: 100 });
      await store.migrate();
      const { lease } = await started(store, "a");
      const client = await place.client();
      await client.query("BEGIN");
      await client.query(`SELECT 1 FROM "${place.namespaceOf(store)}".run FOR UPDATE`);
      const waiting = store.write([commit(lease, boundary(1))], at(1));
      await expect(waiting).rejects.toMatchObject({ failure: "conflict", code: "STORE_BUSY" });
      await client.query("ROLLBACK");
      client.release();
      expect(await store.write([commit(lease, boundary(1))], at(1))).toMatchObject([{ kind: "committed" }]);
      await store.close();
    });

    test("a call that is never answered fails in time, and its connection is thrown away", async () => {
      const database = open({ statementTimeoutMs: 200, max: 1 });
      await expect(database.run([text("SELECT pg_sleep(5)")])).rejects.toMatchObject({
        failure: "unavailable",
      });
      expect((await database.run([text("SELECT 1 AS one")]))[0]?.rows).toEqual([{ one: 1 }]);
    });

    test("a connection to what can only be read is not used again", async () => {
      const database = open({ max: 1 });
      const pid = async (): Promise<unknown> =>
        (await database.run([text("SELECT pg_backend_pid() AS pid")]))[0]?.rows[0]?.pid;
      const before = await pid();
      await database.run([text("SET default_transaction_read_only = on")]);
      const writing = database.run([text(`INSERT INTO ${table} (key) VALUES (?)`, "x")]);
      await expect(writing).rejects.toMatchObject({ code: "STORE_READ_ONLY", failure: "unavailable" });
      expect(await pid()).not.toBe(before);
    });

    test("a server that is not there is unavailable, and closing does not wait for it", async () => {
      const database = open({ url: "postgres://nobody@127.0.0.1:1/none" });
      await expect(database.run([text("SELECT 1")])).rejects.toMatchObject({
        failure: "unavailable",
        message: expect.stringContaining("127.0.0.1:1"),
      });
    });
  },
);
