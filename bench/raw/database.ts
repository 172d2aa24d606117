/** The same SQLite without the engine: its tables and indexes, its settings, and nothing else. */
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import { Rows } from "./rows.ts";

export interface RawDatabase {
  readonly rows: Rows;
  transact(body: () => void): void;
  close(): void;
}

export async function openRaw(file: string): Promise<RawDatabase> {
  await makeTables(file);
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  // As the store sets them: journal_mode is kept in the file, the others belong to the connection.
  db.exec("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  return {
    rows: new Rows(db),
    transact(body) {
      begin.run();
      body();
      commit.run();
    },
    close: () => db.close(),
  };
}

async function makeTables(file: string): Promise<void> {
  const store = sqlite(file);
  await store.migrate();
  await store.close();
}
