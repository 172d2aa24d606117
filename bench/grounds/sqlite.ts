import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { openSqliteRaw } from "../raw/sqlite-raw.ts";
import { type Ground, keyOf, type Place, type Row, type RunTable } from "./ground.ts";

export type Synchronous = "full" | "normal";

/** What each of them promises, so that nobody takes one for the other. */
const grounds = {
  full: { name: "sqlite", title: "SQLite", promise: "survives power loss" },
  normal: {
    name: "sqlite-normal",
    title: "SQLite, synchronous NORMAL",
    promise: "survives kill -9, not power loss",
  },
} as const;

export function openSqlite(path: string, synchronous: Synchronous): Store {
  return sqlite({ path, synchronous });
}

export function sqliteGround(folder: string, synchronous: Synchronous): Ground {
  let made = 0;
  const freshFile = (): string => join(folder, `${++made}.db`);
  const { name, title, promise } = grounds[synchronous];
  return {
    name,
    title,
    about: `SQLite ${version()} on a file, WAL, synchronous ${synchronous.toUpperCase()} (${promise})`,
    meter: null,
    hasConnections: false,
    hint: null,
    freshPlace: () => place(freshFile(), synchronous),
    async freshRoom() {
      const file = freshFile();
      return { url: file, prefix: "", remove: async () => removeFile(file) };
    },
    close: async () => {},
  };
}

function place(file: string, synchronous: Synchronous): Place {
  return {
    key: file,
    open: () => openSqlite(file, synchronous),
    openRaw: () => openSqliteRaw(file, synchronous),
    readRows: async (table) => readRows(file, table),
    settle: async () => {},
    remove: async () => removeFile(file),
  };
}

function removeFile(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-owners"])
    rmSync(`${file}${ending}`, { recursive: true, force: true });
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
