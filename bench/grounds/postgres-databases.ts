/** Databases of their own on the same server: other libraries choose the names of their tables themselves. */
import type pg from "pg";
import type { Room } from "./ground.ts";
import { namespaces } from "./namespaces.ts";

export interface PostgresDatabases {
  take(): Promise<Room>;
  removeAll(): Promise<void>;
}

export function postgresDatabases(client: pg.Client, serverUrl: string): PostgresDatabases {
  const names = namespaces();
  const remove = async (name: string): Promise<void> => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    names.gone(name);
  };
  return {
    async take() {
      const name = names.take();
      await client.query(`CREATE DATABASE ${name}`);
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      return { url: url.href, prefix: "", remove: () => remove(name) };
    },
    async removeAll() {
      for (const name of names.left) await remove(name);
    },
  };
}
