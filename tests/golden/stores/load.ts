/** Puts a recorded store where the store of today can open it: a file, a schema, tables with a prefix, keys. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";

export type StoreName = "sqlite" | "postgres" | "mysql" | "redis";

export interface Copy {
  open(): Store;
  remove(): Promise<void>;
}

export interface Loader {
  readonly url?: string | undefined;
  readonly load: (content: Buffer, url: string) => Promise<Copy>;
}

export const loaders: Record<StoreName, Loader> = {
  sqlite: {
    async load(content) {
      const place = mkdtempSync(join(tmpdir(), "everstep-golden-"));
      const path = join(place, "app.db");
      writeFileSync(path, gunzipSync(content));
      return {
        open: () => sqlite({ path, synchronous: "normal" }),
        remove: async () => rmSync(place, { recursive: true, force: true }),
      };
    },
  },

  postgres: {
    url: process.env.EVERSTEP_POSTGRES_URL,
    async load(content, url) {
      const { namespace, text } = renamed(content);
      const ask = async (statement: string): Promise<void> => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(statement).finally(() => client.end());
      };
      await ask(text);
      return {
        open: () => postgres({ url, namespace, max: 4 }),
        remove: () => ask(`DROP SCHEMA ${namespace} CASCADE`),
      };
    },
  },

  mysql: {
    url: process.env.EVERSTEP_MYSQL_URL,
    async load(content, url) {
      const { namespace, text } = renamed(content);
      const ask = async (statements: readonly string[]): Promise<void> => {
        const connection = await createConnection(url);
        for (const statement of statements) await connection.query(statement);
        await connection.end();
      };
      // Line breaks within values are escaped, so one after a semicolon ends a statement.
      await ask(text.split(";\n").filter((statement) => statement.trim() !== ""));
      const tables = [...text.matchAll(/^CREATE TABLE (`\w+`)/gm)].map(([, table]) => table);
      return {
        open: () => mysql({ url, namespace, max: 4 }),
        remove: () => ask(tables.map((table) => `DROP TABLE ${table}`)),
      };
    },
  },

  redis: {
    url: process.env.EVERSTEP_REDIS_URL,
    async load(content, url) {
      const { namespace, text } = renamed(content);
      const entries = JSON.parse(text) as readonly (readonly [string, string, Kept | readonly Kept[]])[];
      const client = new Redis(url);
      for (const [key, type, value] of entries) await restore(client, key, type, value);
      client.disconnect();
      return {
        open: () => redis({ url, namespace }),
        async remove() {
          const client = new Redis(url);
          const keys = await client.keys(`{${namespace}}*`);
          if (keys.length > 0) await client.unlink(...keys);
          client.disconnect();
        },
      };
    },
  },
};

type Kept = string | { readonly base64: string };

async function restore(
  client: Redis,
  key: string,
  type: string,
  content: Kept | readonly Kept[],
): Promise<void> {
  const values = [content]
    .flat()
    .map((kept) => (typeof kept === "string" ? kept : Buffer.from(kept.base64, "base64")));
  switch (type) {
    case "string":
      await client.set(key, values[0] ?? "");
      return;
    case "hash":
      await client.hset(key, ...values);
      return;
    case "list":
      await client.rpush(key, ...values);
      return;
    case "set":
      await client.sadd(key, ...values);
      return;
    case "zset":
      for (let at = 0; at < values.length; at += 2)
        await client.zadd(key, String(values[at + 1]), values[at] ?? "");
      return;
    default:
      throw new Error(`There is no way yet to restore ${key}, a ${type}.`);
  }
}

let copies = 0;

/** The same under another name, so that several may be loaded at once. */
function renamed(content: Buffer): { readonly namespace: string; readonly text: string } {
  copies += 1;
  const namespace = `golden_${process.pid}_${copies}`;
  return { namespace, text: content.toString("utf8").replaceAll("everstep_golden", namespace) };
}
