/**
 * What the fast paths of a store write is what the state machine writes: two stores are told the same random story, one of
 * them only the long way, and every column of every table is compared, on Redis every key.
 */
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store, StoreRequest } from "../../packages/everstep/src/store/store.ts";
import { loadDriver, type RedisClient } from "../../packages/everstep/src/stores/redis/driver.ts";
import type { RedisStore } from "../../packages/everstep/src/stores/redis/index.ts";
import { quickScript } from "../../packages/everstep/src/stores/redis/scripts/index.ts";
import {
  namespaceOf,
  openClient,
  openFresh,
  redisUrl,
  removeTestKeys,
} from "../../packages/everstep/src/stores/redis/test-support.ts";
import type { SqliteDriver, SqliteStatement } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { nodeDriver } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { sqlite } from "../../packages/everstep/src/stores/sqlite/index.ts";
import { createSeededRandom } from "../../packages/everstep/src/testing/seeded-random.ts";
import { RandomStory } from "../../packages/everstep/src/testing/store-contract/random-story.ts";
import { openRows } from "../simulation/sql-rows/rows-store.ts";
import { mysqlPlace, mysqlUrl } from "../support/mysql-place.ts";
import { postgresPlace, postgresUrl } from "../support/postgres-place.ts";
import { firstRun, readContent } from "./redis-keys.ts";
import { type ReadTable, readTables } from "./tables.ts";

interface Side {
  readonly store: Store;
  readonly read: ReadTable;
}

async function expectSameRows(quick: Side, long: Side, seed: number, turns: number): Promise<void> {
  await new RandomStory([quick.store, long.store], seed).tell(turns);
  expect(await readTables(quick.read)).toEqual(await readTables(long.read));
}

describe("SQLite", () => {
  // Both decide whether a request fits: nothing fits when they find nothing.
  const commits = /AND status = 'active' AND event_seq = \?$/;
  const events = /r\.crash_count, r\.event_seq\s+FROM/;
  const tried = new Map<RegExp, number>();

  test.each(Array.from({ length: 120 }, (_unused, n) => n + 1))("story %i", async (seed) => {
    const [quick, long] = [openSqlite(), openSqlite(commits, events)];
    await expectSameRows(quick, long, seed, 60);
    for (const path of long.used()) tried.set(path, (tried.get(path) ?? 0) + 1);
    await Promise.all([quick.store.close(), long.store.close()]);
  });

  test("nearly every story has requests for both fast paths", () => {
    for (const path of [commits, events]) expect(tried.get(path)).toBeGreaterThan(90);
  });
});

function openSqlite(...blocked: readonly RegExp[]): Side & { used(): ReadonlySet<RegExp> } {
  let handle: DatabaseSync | undefined;
  const used = new Set<RegExp>();
  const block = <Row>(sql: string, statement: SqliteStatement<Row>): SqliteStatement<Row> => {
    const which = blocked.find((text) => text.test(sql));
    if (which === undefined) return statement;
    const note = <Answer>(answer: Answer) => {
      used.add(which);
      return answer;
    };
    return { run: () => note({ changes: 0 }), get: () => note(undefined), all: () => note([]) };
  };
  const driver: SqliteDriver = {
    ...nodeDriver,
    async open(path, options) {
      const opened = await nodeDriver.open(path, options);
      handle = opened.handle as DatabaseSync;
      return {
        ...opened,
        prepare: (sql) => block(sql, opened.prepare(sql)),
        prepareTuples: (sql) => block(sql, opened.prepareTuples(sql)),
        get isTransaction() {
          return opened.isTransaction;
        },
      };
    },
  };
  return {
    store: sqlite({ path: ":memory:", driver }),
    read: (table) => (handle as DatabaseSync).prepare(`SELECT * FROM everstep_${table}`).all(),
    used: () => used,
  };
}

describe("what server stores share, on tables in memory", () => {
  test.each(Array.from({ length: 40 }, (_unused, n) => n + 1))("story %i", async (seed) => {
    await expectSameRows(await openTables(true), await openTables(false), seed, 60);
  });
});

async function openTables(quick: boolean): Promise<Side> {
  const database = await nodeDriver.open(":memory:", { busyTimeoutMs: 0, create: true });
  const { float } = createSeededRandom(1);
  const store = openRows(database, { quick, ownership: false, float }).openStore();
  await store.migrate();
  return { store, read: (table) => database.prepare(`SELECT * FROM "${table}"`).all() };
}

describe.skipIf(postgresUrl === undefined)("PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)", () => {
  const place = postgresPlace();
  afterAll(() => place.clear());

  test.each([1, 2, 3, 4, 5, 6])("story %i", async (seed) => {
    const [quick, long] = [place.open(), place.open()];
    await Promise.all([quick.migrate(), long.migrate()]);
    const side = (store: Store, given: Store): Side => ({
      store: given,
      read: (table) => place.query(`SELECT * FROM "${place.namespaceOf(store)}"."${table}"`),
    });
    await expectSameRows(side(quick, quick), side(long, longWay(long)), seed, 100);
    await Promise.all([quick.close(), long.close()]);
  });
});

describe.skipIf(mysqlUrl === undefined)("MySQL (set EVERSTEP_MYSQL_URL to run these)", () => {
  const place = mysqlPlace();
  beforeAll(() => place.create());
  afterAll(() => place.drop());

  test.each([1, 2, 3, 4, 5, 6])("story %i", async (seed) => {
    const [quick, long] = [await place.open(), await place.open()];
    await Promise.all([quick.migrate(), long.migrate()]);
    const side = (store: Store, given: Store): Side => ({
      store: given,
      read: (table) => place.query(`SELECT * FROM \`${place.namespaceOf(store)}_${table}\``),
    });
    await expectSameRows(side(quick, quick), side(long, longWay(long)), seed, 100);
    await Promise.all([quick.close(), long.close()]);
  });
});

describe.skipIf(redisUrl === undefined)("Redis (set EVERSTEP_REDIS_URL to run these)", () => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  const answered = { commit: 0, create: 0, event: 0, publish: 0, left: 0 };

  test.each(Array.from({ length: 40 }, (_unused, n) => n + 1))("story %i", async (seed) => {
    const [quick, long] = [await openNumbered(count), await openNumbered(expectNone)];
    const stores = [quick, longWay(long, everything)] as const;
    await new RandomStory(stores, seed, { plainCommits: true }).tell(200);
    expect(await readContent(client, namespaceOf(quick))).toEqual(
      await readContent(client, namespaceOf(long)),
    );
    await Promise.all([quick.close(), long.close()]);
  });

  test("the stories have requests for every fast path, and some that none takes", () => {
    for (const [way, times] of Object.entries(answered)) expect(times, way).toBeGreaterThan(100);
  });

  function count(replies: readonly unknown[]): void {
    for (const reply of replies) {
      if (typeof reply === "number") answered.commit += 1;
      else if (typeof reply === "string") answered.create += 1;
      else if (Array.isArray(reply) && reply.length === 3) answered.event += 1;
      else if (Array.isArray(reply) && reply.length === 1) answered.publish += 1;
      else if (reply === null) answered.left += 1;
    }
  }

  function expectNone(replies: readonly unknown[]): void {
    for (const reply of replies) expect(reply).toBeNull();
  }

  async function openNumbered(onQuick: (replies: readonly unknown[]) => void): Promise<RedisStore> {
    const { create } = await loadDriver();
    const store = openFresh({
      driver: async () => ({
        create: (url, options) => {
          const made = create(url, options);
          const call = made.call.bind(made);
          made.call = async (command, args) => {
            const reply = await call(command, args);
            if (args[0] === quickScript.sha || args[0] === quickScript.lua) onQuick(reply as unknown[]);
            return reply;
          };
          return made;
        },
      }),
    });
    await store.migrate();
    await client.call("HSET", [`{${namespaceOf(store)}}:meta`, "lastRun", firstRun]);
    return store;
  }
});

const nothing: StoreRequest = { kind: "wake", runId: -1, token: 0 };
/** No request may overtake one of these. */
const everything: StoreRequest = { kind: "abandon", owner: "nobody", fate: { kind: "expire" } };

/** A request that fits no fast path, before and behind the others, keeps a server store from taking one. */
function longWay(store: Store, request: StoreRequest = nothing): Store {
  const write: Store["write"] = async (requests, now) =>
    (await store.write([request, ...requests, request], now)).slice(1, -1);
  return new Proxy(store, {
    get(target, name) {
      if (name === "write") return write;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
