/** Stores that keep their data outside of the process, where a test can write and read behind their backs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import type { RunId, Store } from "everstep/store";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

export interface Damage {
  /** With the tables' names in <>, and "?" for the run. */
  readonly sql: string;
  readonly redis: (keys: RedisKeys, runId: RunId) => Promise<unknown>;
}

/** Commands on keys without their namespace: "run:7". */
export interface RedisKeys {
  call(command: string, key: string, ...args: readonly string[]): Promise<unknown>;
  /** Rewrites one field of a hash. */
  edit(key: string, field: string, change: (text: string) => string): Promise<unknown>;
  /** Puts what one field of a hash has into another. */
  copy(key: string, from: string, to: string): Promise<unknown>;
}

export interface Site {
  open(): Store;
  /** Gives the number of rows that were hit, 1 where that cannot be known. */
  damage(damage: Damage, runId: RunId): Promise<number>;
  /** Every row, in an order of its own. */
  dump(): Promise<readonly string[]>;
}

export function onEachSite(title: string, scenarios: (take: () => Site) => void): void {
  describe(`${title} (sqlite)`, () => {
    const cleanUps = cleaningUp();
    scenarios(() => sqliteSite(cleanUps));
  });
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      const cleanUps = cleaningUp();
      scenarios(() => {
        const namespace = namespaces.take();
        cleanUps.push(() => namespaces.giveBack(namespace));
        return {
          open: () => server.open(namespace),
          ...behind[server.name](server.url as string, namespace),
        };
      });
    });
  }
}

type CleanUps = (() => Promise<void> | void)[];

function cleaningUp(): CleanUps {
  const cleanUps: CleanUps = [];
  afterEach(async () => {
    for (const act of cleanUps.splice(0).reverse()) await act();
  });
  return cleanUps;
}

const tables = ["instance", "run", "ending", "step", "event", "log", "publication", "change"];

function sqliteSite(cleanUps: CleanUps): Site {
  const folder = mkdtempSync(join(tmpdir(), "everstep-verify-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "app.db");
  const within = <Result>(act: (database: DatabaseSync) => Result): Result => {
    const database = new DatabaseSync(path);
    try {
      return act(database);
    } finally {
      database.close();
    }
  };
  return {
    open: () => sqlite({ path, synchronous: "normal" }),
    damage: async ({ sql }, runId) =>
      within((database) => {
        const statement = database.prepare(named(sql, (table) => `everstep_${table}`));
        return Number((sql.includes("?") ? statement.run(runId) : statement.run()).changes);
      }),
    dump: async () =>
      within((database) =>
        tables.flatMap((table) => rowTexts(table, database.prepare(`SELECT * FROM everstep_${table}`).all())),
      ),
  };
}

type Behind = (url: string, namespace: string) => Omit<Site, "open">;

const behind: Record<"postgres" | "mysql" | "redis", Behind> = {
  postgres: (url, namespace) => {
    const run = async (sql: string, values: readonly unknown[] = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const text = named(sql, (table) => `"${namespace}"."${table}"`).replace("?", "$1");
      return client.query(text, [...values]).finally(() => client.end());
    };
    return {
      damage: async ({ sql }, runId) => (await run(sql, sql.includes("?") ? [runId] : [])).rowCount ?? 0,
      dump: () => dumpTables(async (table) => (await run(`SELECT * FROM <${table}>`)).rows),
    };
  },
  mysql: (url, namespace) => {
    const run = async (sql: string, values: readonly unknown[] = []) => {
      const connection = await createConnection(url);
      const text = named(sql, (table) => `\`${namespace}_${table}\``).replace(" key ", " `key` ");
      const [result] = await connection.query(text, [...values]).finally(() => connection.end());
      return result;
    };
    return {
      damage: async ({ sql }, runId) => ((await run(sql, [runId])) as { affectedRows: number }).affectedRows,
      dump: () => dumpTables(async (table) => (await run(`SELECT * FROM <${table}>`)) as object[]),
    };
  },
  redis: (url, namespace) => {
    const within = async <Result>(act: (client: Redis) => Promise<Result>): Promise<Result> => {
      const client = new Redis(url);
      return act(client).finally(() => client.disconnect());
    };
    return {
      damage: ({ redis }, runId) =>
        within(async (client) => {
          const keys = redisKeys(client, namespace);
          await redis(keys, runId);
          return 1;
        }),
      dump: () => within((client) => dumpRedis(client, namespace)),
    };
  },
};

function redisKeys(client: Redis, namespace: string): RedisKeys {
  const full = (key: string): string => `{${namespace}}:${key}`;
  return {
    call: (command, key, ...args) => client.call(command, full(key), ...args),
    async edit(key, field, change) {
      const text = await client.hget(full(key), field);
      if (text === null) throw new Error(`${key} has no field ${field}.`);
      return client.hset(full(key), field, change(text));
    },
    copy: async (key, from, to) =>
      client.hset(full(key), to, (await client.hgetBuffer(full(key), from)) as Buffer),
  };
}

function named(sql: string, nameOf: (table: string) => string): string {
  return sql.replaceAll(/<(\w+)>/g, (_, table: string) => nameOf(table));
}

async function dumpTables(read: (table: string) => Promise<readonly object[]>): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const table of tables) rows.push(...rowTexts(table, await read(table)));
  return rows;
}

function rowTexts(table: string, rows: readonly object[]): readonly string[] {
  return rows.map((row) => `${table} ${JSON.stringify(row)}`).sort();
}

async function dumpRedis(client: Redis, namespace: string): Promise<readonly string[]> {
  const names = await client.keys(`{${namespace}}*`);
  return Promise.all(names.sort().map(async (name) => `${name} ${await textOf(client, name)}`));
}

async function textOf(client: Redis, name: string): Promise<string> {
  switch (await client.type(name)) {
    case "hash":
      return JSON.stringify(Object.entries(await client.hgetall(name)).sort());
    case "zset":
      return JSON.stringify(await client.zrange(name, "0", "-1", "WITHSCORES"));
    case "set":
      return JSON.stringify((await client.smembers(name)).sort());
    case "list":
      return JSON.stringify(await client.lrange(name, 0, -1));
    default:
      return String(await client.get(name));
  }
}
