/** PostgreSQL behind a real PgBouncer that hands out connections per transaction. */
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startPooler, whyNot } from "../../../../../scripts/services/server.mjs";
import { ownRows, postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { lacks } from "../../store/capabilities.ts";
import { describeStore } from "../../testing/store-contract/index.ts";
import type { PostgresStore } from "./index.ts";
import { readOptions } from "./options.ts";
import { PostgresDatabase } from "./session.ts";

const reason = postgresUrl === undefined ? "set EVERSTEP_POSTGRES_URL to run these" : whyNot("pgbouncer");
const noNudges = "LISTEN needs a connection of its own";

describe.skipIf(reason !== undefined)(`PostgreSQL behind PgBouncer (${reason ?? "transaction mode"})`, () => {
  // Statements of the tests' own go to the server itself.
  const place = postgresPlace();
  let pooler: Awaited<ReturnType<typeof startPooler>>;
  beforeAll(async () => {
    pooler = await startPooler(postgresUrl as string);
  });
  afterAll(async () => {
    await place.clear();
    await pooler.stop();
  }, 60_000);

  /** That nothing is heard there is found out when somebody wants to hear; see below. */
  const deaf = (store: PostgresStore): PostgresStore =>
    Object.assign(store, { capabilities: { ...store.capabilities, nudges: lacks(noNudges) } });

  describeStore(
    {
      name: "postgres behind pgbouncer",
      open: () => deaf(place.open({ url: pooler.url })),
      reopen: (store) => deaf(place.reopen(store, { url: pooler.url })),
      lacks: { nudges: noNudges },
      ...ownRows(place),
    },
    { describe, it },
  );

  const settingsOf = async (url: string, pooled?: boolean): Promise<unknown> => {
    const options = readOptions({ url, max: 1, ...(pooled === undefined ? {} : { pooled }) });
    const database = new PostgresDatabase(options);
    try {
      const sql =
        "SELECT current_setting('statement_timeout') AS timeout, current_setting('enable_seqscan') AS scans, " +
        "(SELECT count(*)::int FROM pg_prepared_statements) AS prepared";
      const [result] = await database.run([{ sql, values: [], isPlannedOnce: true }]);
      return result?.rows[0];
    } finally {
      await database.close();
    }
  };

  test("a pooler is noticed by itself: nothing is set for a session, and nothing prepared", async () => {
    expect(await settingsOf(pooler.url)).toEqual({ timeout: "0", scans: "on", prepared: 0 });
    expect(await settingsOf(pooler.url, true)).toEqual({ timeout: "0", scans: "on", prepared: 0 });
    expect(await settingsOf(postgresUrl as string)).toEqual({ timeout: "15s", scans: "off", prepared: 1 });
  });

  test("told that there is none, it says at once and for good what to set", async () => {
    const store = place.open({ url: pooler.url, pooled: false });
    await expect(store.migrate()).rejects.toMatchObject({
      failure: "fatal",
      code: "STORE_FAILED",
      message: expect.stringMatching(/pooler.*`pooled: true`/),
    });
    await store.close();
  });

  test("one that ignores settings instead of refusing them is noticed too", async () => {
    const lenient = await startPooler(postgresUrl as string, {
      ignore_startup_parameters: "statement_timeout,lock_timeout,idle_in_transaction_session_timeout",
    });
    expect(await settingsOf(lenient.url)).toEqual({ timeout: "0", scans: "on", prepared: 0 });
    await lenient.stop();
  });

  test("that nudges do not arrive is told to whoever wants to hear them", async () => {
    const store = place.open({ url: pooler.url });
    await store.migrate();
    const deafness = store.subscribe({ onNudge() {}, onLost() {} });
    await expect(deafness).rejects.toMatchObject({
      message: expect.stringMatching(/LISTEN.*pooler.*[Pp]olling/),
    });
    await store.close();
  });

  test("a pooler that goes away is a store out of reach, and one that comes back is used again", async () => {
    const own = await startPooler(postgresUrl as string);
    const store = place.open({ url: own.url });
    await store.migrate();
    await own.kill();
    await expect(store.countByStatus()).rejects.toMatchObject({ failure: "unavailable" });
    await own.restart();
    expect(await store.countByStatus()).toMatchObject({ active: 0 });
    await store.close();
    await own.stop();
  });
});
