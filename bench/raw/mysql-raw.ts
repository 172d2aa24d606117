import { createConnection } from "mysql2/promise";
import { type MysqlNames, mysqlText } from "./mysql-statements.ts";
import type { RawStore } from "./raw-store.ts";
import { SqlRows } from "./sql-rows.ts";

/** On the tables of a namespace, which are there already. */
export async function openMysqlRaw(url: string, namespace: string, count: number): Promise<RawStore> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => createConnection({ uri: url, multipleStatements: true })),
  );
  for (const connection of connections)
    await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  const rows = connections.map(() => new SqlRows());
  const names: MysqlNames = {
    table: (name) => `\`${namespace}_${name}\``,
    escape: (text) => connections[0]?.escape(text) ?? "",
  };
  let lastRun = 0;
  return {
    reserve(howMany) {
      lastRun += howMany;
      return lastRun - howMany + 1;
    },
    async transact(write, connection = 0) {
      const gathered = rows[connection] as SqlRows;
      write(gathered);
      await connections[connection]?.query(mysqlText(gathered.take(), names));
    },
    close: async () => void (await Promise.all(connections.map((connection) => connection.end()))),
  };
}
