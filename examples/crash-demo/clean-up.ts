/** Leaves a server as it was: removes everything the demo keeps there under its own name. */
import { type StoreName, serverUrl } from "./stores.ts";

export async function removeData(name: StoreName, namespace: string): Promise<void> {
  const url = serverUrl(name);
  switch (name) {
    case "sqlite":
      return;
    case "postgres":
      return removeSchema(url, namespace);
    case "mysql":
      return removeTables(url, namespace);
    case "redis":
      return removeKeys(url, namespace);
  }
}

async function removeSchema(url: string, namespace: string): Promise<void> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${namespace} CASCADE`);
  await client.end();
}

async function removeTables(url: string, namespace: string): Promise<void> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection(url);
  const [rows] = await connection.query(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE ?",
    [`${namespace.replaceAll("_", "\\_")}\\_%`],
  );
  const names = (rows as { readonly name: string }[]).map(({ name }) => `\`${name}\``);
  if (names.length > 0) await connection.query(`DROP TABLE ${names.join(", ")}`);
  await connection.end();
}

async function removeKeys(url: string, namespace: string): Promise<void> {
  const { Redis } = await import("ioredis");
  const client = new Redis(url);
  for await (const keys of client.scanStream({ match: `{${namespace}}*`, count: 1000 }))
    if (keys.length > 0) await client.unlink(...keys);
  client.disconnect();
}
