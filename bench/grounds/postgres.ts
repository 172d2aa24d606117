import { postgres } from "everstep/postgres";
import type { Store } from "everstep/store";
import pg from "pg";
import { openPostgresRaw } from "../raw/postgres-raw.ts";
import { type Ground, keyOf, type Meter, type Place } from "./ground.ts";
import { namespaces, serverUrl } from "./namespaces.ts";
import { postgresDatabases } from "./postgres-databases.ts";

export function openPostgres(namespace: string): Store {
  return postgres({ url: serverUrl("EVERSTEP_POSTGRES_URL"), namespace });
}

export async function postgresGround(): Promise<Ground> {
  const url = serverUrl("EVERSTEP_POSTGRES_URL");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const names = namespaces();
  const databases = postgresDatabases(client, url);
  const remove = async (namespace: string): Promise<void> => {
    await client.query(`DROP SCHEMA IF EXISTS ${namespace} CASCADE`);
    names.gone(namespace);
  };

  const place = (namespace: string): Place => ({
    key: namespace,
    open: () => openPostgres(namespace),
    async openRaw(connections = 1) {
      await makeTables(namespace);
      return openPostgresRaw(url, namespace, connections);
    },
    async readRows(table) {
      const oldest = `SELECT min(id) FROM ${namespace}.run`;
      const text = `SELECT * FROM ${namespace}.${table} WHERE ${keyOf(table)} = (${oldest}) ORDER BY 1, 2`;
      return (await client.query(text)).rows;
    },
    async settle() {
      const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [
        namespace,
      ]);
      for (const { tablename } of rows) await client.query(`VACUUM (ANALYZE) ${namespace}.${tablename}`);
      await client.query("CHECKPOINT");
    },
    remove: () => remove(namespace),
  });

  return {
    name: "postgres",
    title: "PostgreSQL",
    about: await describe(client),
    meter: await meter(client),
    hasConnections: true,
    hint: (times) => hints(url, times),
    freshPlace: () => place(names.take()),
    freshRoom: () => databases.take(),
    async close() {
      for (const namespace of names.left) await remove(namespace);
      await databases.removeAll();
      await client.end();
    },
  };
}

async function makeTables(namespace: string): Promise<void> {
  const store = openPostgres(namespace);
  await store.migrate();
  await store.close();
}

async function describe(client: pg.Client): Promise<string> {
  const wanted = ["server_version", "fsync", "synchronous_commit", "full_page_writes"];
  const { rows } = await client.query("SELECT name, setting FROM pg_settings WHERE name = ANY($1)", [wanted]);
  const settings = new Map<string, string>(rows.map(({ name, setting }) => [name, setting]));
  const [version, ...others] = wanted;
  const list = others.map((name) => `${name} ${settings.get(name)}`).join(", ");
  return `PostgreSQL ${settings.get(version ?? "")?.split(" ")[0]}, ${list}`;
}

/** `wal_sync` has another home in PostgreSQL 18. */
async function meter(client: pg.Client): Promise<Meter> {
  const read = async (): Promise<Readonly<Record<string, number>>> => {
    const { rows } = await client.query(
      `SELECT d.xact_commit::float8 AS commits, (to_jsonb(w) ->> 'wal_sync')::float8 AS syncs,
         w.wal_bytes::float8 AS bytes
       FROM pg_stat_database d, pg_stat_wal w WHERE d.datname = current_database()`,
    );
    return rows[0];
  };
  const hasSyncs = (await read()).syncs !== null;
  return {
    counts: [
      { name: "commits", what: "transactions on the server (pg_stat_database.xact_commit)" },
      ...(hasSyncs ? [{ name: "syncs", what: "log syncs (pg_stat_wal.wal_sync)" }] : []),
      { name: "bytes", what: "log bytes (pg_stat_wal.wal_bytes)" },
    ],
    read,
  };
}

async function hints(url: string, times: number): Promise<readonly number[]> {
  const speaker = new pg.Client({ connectionString: url });
  const listener = new pg.Client({ connectionString: url });
  await Promise.all([speaker.connect(), listener.connect()]);
  await listener.query("LISTEN everstep_bench");
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const start = performance.now();
    const heard = new Promise((resolve) => listener.once("notification", resolve));
    await speaker.query("SELECT pg_notify('everstep_bench', '')");
    await heard;
    taken.push(performance.now() - start);
  }
  await Promise.all([speaker.end(), listener.end()]);
  return taken;
}
