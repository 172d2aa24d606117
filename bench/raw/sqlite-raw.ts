import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import type { RawStore } from "./raw-store.ts";
import { sqliteRows } from "./sqlite-rows.ts";

export async function openSqliteRaw(file: string, synchronous: "full" | "normal"): Promise<RawStore> {
  await makeTables(file);
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  // As the store sets them: journal_mode is kept in the file, the others belong to the connection.
  db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384`);
  const rows = sqliteRows(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const reserve = db.prepare(
    "UPDATE everstep_meta SET value = value + ? WHERE name = 'last_run' RETURNING value",
  );
  return {
    reserve(count) {
      const row = reserve.get(count) as { readonly value: number };
      return row.value - count + 1;
    },
    async transact(write) {
      begin.run();
      write(rows);
      commit.run();
    },
    close: async () => db.close(),
  };
}

async function makeTables(file: string): Promise<void> {
  const store = sqlite(file);
  await store.migrate();
  await store.close();
}
