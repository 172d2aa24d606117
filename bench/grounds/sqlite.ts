import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { openSqliteRaw } from "../raw/sqlite-raw.ts";
import { type Ground, keyOf, type Place, type Row, type RunTable } from "./ground.ts";

export function openSqlite(file: string): Store {
  return sqlite(file);
}

export function sqliteGround(folder: string): Ground {
  let made = 0;
  return {
    name: "sqlite",
    title: "SQLite",
    about: `SQLite ${version()} on a file, WAL, synchronous FULL`,
    meter: null,
    hasConnections: false,
    hint: null,
    freshPlace: () => place(join(folder, `${++made}.db`)),
    close: async () => {},
  };
}

function place(file: string): Place {
  return {
    key: file,
    open: () => openSqlite(file),
    openRaw: () => openSqliteRaw(file),
    readRows: async (table) => readRows(file, table),
    settle: async () => {},
    async remove() {
      for (const ending of ["", "-wal", "-shm", "-owners"]) {
        rmSync(`${file}${ending}`, { recursive: true, force: true });
      }
    },
  };
}

function readRows(file: string, table: RunTable): readonly Row[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const oldest = "SELECT min(id) FROM everstep_run";
    const text = `SELECT * FROM everstep_${table} WHERE ${keyOf(table)} = (${oldest}) ORDER BY 1, 2`;
    return db.prepare(text).all();
  } finally {
    db.close();
  }
}

function version(): string {
  const db = new DatabaseSync(":memory:");
  const row = db.prepare("SELECT sqlite_version() AS version").get();
  db.close();
  return String(row?.version);
}
