import { mysql } from "everstep/mysql";
import type { Store } from "everstep/store";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { openMysqlRaw } from "../raw/mysql-raw.ts";
import { type Ground, keyOf, type Meter, type Place } from "./ground.ts";
import { namespaces, serverUrl } from "./namespaces.ts";

export function openMysql(namespace: string): Store {
  return mysql({ url: serverUrl("EVERSTEP_MYSQL_URL"), namespace });
}

export async function mysqlGround(): Promise<Ground> {
  const url = serverUrl("EVERSTEP_MYSQL_URL");
  const connection = await createConnection(url);
  const names = namespaces();
  const remove = async (namespace: string): Promise<void> => {
    for (const table of await tablesOf(connection, namespace))
      await connection.query(`DROP TABLE \`${table}\``);
    names.gone(namespace);
  };

  const place = (namespace: string): Place => ({
    key: namespace,
    open: () => openMysql(namespace),
    async openRaw(connections = 1) {
      await makeTables(namespace);
      return openMysqlRaw(url, namespace, connections);
    },
    async readRows(table) {
      const name = (each: string): string => `\`${namespace}_${each}\``;
      const oldest = `SELECT min(id) FROM ${name("run")}`;
      const text = `SELECT * FROM ${name(table)} WHERE ${keyOf(table)} = (${oldest}) ORDER BY 1, 2`;
      const [rows] = await connection.query<RowDataPacket[]>(text);
      return rows;
    },
    async settle() {
      for (const table of await tablesOf(connection, namespace))
        await connection.query(`ANALYZE TABLE \`${table}\``);
    },
    remove: () => remove(namespace),
  });

  return {
    name: "mysql",
    title: (await isMariaDb(connection)) ? "MariaDB" : "MySQL",
    about: await describe(connection),
    meter: await meter(connection),
    hasConnections: true,
    hint: null,
    freshPlace: () => place(names.take()),
    freshRoom: null,
    async close() {
      for (const namespace of names.left) await remove(namespace);
      await connection.end();
    },
  };
}

async function makeTables(namespace: string): Promise<void> {
  const store = openMysql(namespace);
  await store.migrate();
  await store.close();
}

async function tablesOf(connection: Connection, namespace: string): Promise<readonly string[]> {
  const [rows] = await connection.query<RowDataPacket[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE ?",
    [`${namespace.replaceAll("_", "\\_")}\\_%`],
  );
  return rows.map(({ name }) => name);
}

async function isMariaDb(connection: Connection): Promise<boolean> {
  const [[row]] = await connection.query<RowDataPacket[]>("SELECT @@version AS version");
  return String(row?.version).includes("MariaDB");
}

async function describe(connection: Connection): Promise<string> {
  const [[row]] = await connection.query<RowDataPacket[]>(
    `SELECT @@version AS version, @@innodb_flush_log_at_trx_commit AS flush, @@log_bin AS binlog,
       @@sync_binlog AS sync`,
  );
  const [version] = String(row?.version).split("-");
  const name = (await isMariaDb(connection)) ? "MariaDB" : "MySQL";
  const binlog = row?.binlog ? `binary log with sync_binlog ${row.sync}` : "no binary log";
  return `${name} ${version}, innodb_flush_log_at_trx_commit ${row?.flush}, ${binlog}`;
}

const variables = [
  { name: "statements", variable: "Questions", what: "statements (Questions)" },
  { name: "commits", variable: "Com_commit", what: "COMMIT statements (Com_commit)" },
  { name: "syncs", variable: "Innodb_os_log_fsyncs", what: "log syncs (Innodb_os_log_fsyncs)" },
  { name: "writes", variable: "Innodb_log_writes", what: "log writes (Innodb_log_writes)" },
  { name: "bytes", variable: "Innodb_os_log_written", what: "log bytes (Innodb_os_log_written)" },
] as const;

/** Which of the variables there are depends on server and version. */
async function meter(connection: Connection): Promise<Meter> {
  const readAll = async (): Promise<ReadonlyMap<string, number>> => {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS");
    return new Map(rows.map((row) => [String(row.Variable_name), Number(row.Value)]));
  };
  const known = await readAll();
  const counts = variables.filter(({ variable }) => known.has(variable));
  return {
    counts,
    async read() {
      const all = await readAll();
      return Object.fromEntries(counts.map(({ name, variable }) => [name, all.get(variable) ?? 0]));
    },
  };
}
