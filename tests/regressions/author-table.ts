/** A table of an author's own on the servers that take authors' writes into their transactions. */
import { createConnection } from "mysql2/promise";
import pg from "pg";

export interface AuthorTable {
  /** For mutations. */
  insert(db: unknown, id: string): Promise<void>;
  /** For mutations: keeps the transaction, and with it a connection, for some time. */
  hold(db: unknown, ms: number): Promise<void>;
  /** What is committed. */
  ids(): Promise<string[]>;
  drop(): Promise<void>;
}

interface AnyClient {
  query(text: string, values?: readonly unknown[]): Promise<unknown>;
}

export async function authorTable(name: "postgres" | "mysql", namespace: string): Promise<AuthorTable> {
  const table = `author_of_${namespace}`;
  const { ask, end } = name === "postgres" ? await askPostgres() : await askMysql();
  const mark = name === "postgres" ? "$1" : "?";
  const sleep = name === "postgres" ? "SELECT pg_sleep($1)" : "SELECT SLEEP(?)";
  await ask(`DROP TABLE IF EXISTS ${table}`);
  await ask(`CREATE TABLE ${table} (id varchar(100) PRIMARY KEY)`);
  return {
    insert: async (db, id) =>
      void (await (db as AnyClient).query(`INSERT INTO ${table} (id) VALUES (${mark})`, [id])),
    hold: async (db, ms) => void (await (db as AnyClient).query(sleep, [ms / 1000])),
    ids: async () => (await ask(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id),
    async drop() {
      await ask(`DROP TABLE ${table}`);
      await end();
    },
  };
}

type Ask = (text: string) => Promise<readonly { readonly id: string }[]>;

async function askPostgres(): Promise<{ ask: Ask; end(): Promise<void> }> {
  const client = new pg.Client({ connectionString: process.env.EVERSTEP_POSTGRES_URL });
  await client.connect();
  return { ask: async (text) => (await client.query(text)).rows, end: () => client.end() };
}

async function askMysql(): Promise<{ ask: Ask; end(): Promise<void> }> {
  const connection = await createConnection(process.env.EVERSTEP_MYSQL_URL as string);
  const ask: Ask = async (text) => {
    const [rows] = await connection.query(text);
    return rows as { id: string }[];
  };
  return { ask, end: () => connection.end() };
}
