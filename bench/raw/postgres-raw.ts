import pg from "pg";
import { postgresStatement } from "./postgres-statement.ts";
import type { RawStore } from "./raw-store.ts";
import { SqlRows } from "./sql-rows.ts";

/** On the tables of a namespace, which are there already. */
export async function openPostgresRaw(url: string, schema: string, connections: number): Promise<RawStore> {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const rows = clients.map(() => new SqlRows());
  const names = new Map<string, string>();
  let lastRun = 0;
  return {
    reserve(count) {
      lastRun += count;
      return lastRun - count + 1;
    },
    async transact(write, connection = 0) {
      const gathered = rows[connection] as SqlRows;
      write(gathered);
      const { text, values } = postgresStatement(gathered.take(), schema);
      const name = names.get(text) ?? `raw${names.size}`;
      names.set(text, name);
      await clients[connection]?.query({ name, text, values: [...values] });
    },
    close: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
}
