/**
 * The stores that need a server, for tests that run on every store. Each test gets data of its own: a namespace that is
 * emptied afterwards and used again, because making tables takes longer than most tests.
 */
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import type { Store } from "everstep/store";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";

export interface ServerStore {
  readonly name: "postgres" | "mysql" | "redis";
  /** Where its server is; undefined where there is none to test with. */
  readonly url: string | undefined;
  open(namespace: string): Store;
  empty(namespace: string): Promise<void>;
}

export const serverStores: readonly ServerStore[] = [
  {
    name: "postgres",
    url: process.env.EVERSTEP_POSTGRES_URL,
    open: (namespace) => postgres({ url: urlOf("EVERSTEP_POSTGRES_URL"), namespace, max: 4 }),
    empty: emptyPostgres,
  },
  {
    name: "mysql",
    url: process.env.EVERSTEP_MYSQL_URL,
    open: (namespace) => mysql({ url: urlOf("EVERSTEP_MYSQL_URL"), namespace, max: 4 }),
    empty: emptyMysql,
  },
  {
    name: "redis",
    url: process.env.EVERSTEP_REDIS_URL,
    open: (namespace) => redis({ url: urlOf("EVERSTEP_REDIS_URL"), namespace }),
    empty: emptyRedis,
  },
];

/** Namespaces of one process that nobody uses at the moment. */
export class Namespaces {
  readonly #store: ServerStore;
  readonly #free: string[] = [];
  #made = 0;

  constructor(store: ServerStore) {
    this.#store = store;
  }

  take(): string {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#made += 1;
    return `t${process.pid}_${this.#made}`;
  }

  async giveBack(namespace: string): Promise<void> {
    await this.#store.empty(namespace);
    this.#free.push(namespace);
  }
}

async function emptyPostgres(namespace: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf("EVERSTEP_POSTGRES_URL") });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'meta'",
      [namespace],
    );
    const names = rows.map(({ name }) => `"${namespace}"."${name}"`);
    for (const name of names) await client.query(`DELETE FROM ${name}`);
  } finally {
    await client.end();
  }
}

async function emptyMysql(namespace: string): Promise<void> {
  const connection = await createConnection(urlOf("EVERSTEP_MYSQL_URL"));
  try {
    const [rows] = await connection.query(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE ?",
      [`${namespace.replaceAll("_", "\\_")}\\_%`],
    );
    const names = (rows as { name: string }[]).map(({ name }) => name);
    for (const name of names.filter((each) => !each.endsWith("_meta")))
      await connection.query(`DELETE FROM \`${name}\``);
  } finally {
    await connection.end();
  }
}

async function emptyRedis(namespace: string): Promise<void> {
  const client = new Redis(urlOf("EVERSTEP_REDIS_URL"));
  try {
    for await (const keys of client.scanStream({ match: `{${namespace}}*`, count: 1000 }))
      if (keys.length > 0) await client.unlink(...keys);
  } finally {
    client.disconnect();
  }
}

function urlOf(variable: string): string {
  const url = process.env[variable];
  if (url === undefined) throw new Error(`${variable} is not set; npm test starts a server and sets it.`);
  return url;
}
