import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, it } from "vitest";
import type { Store } from "../../store/store.ts";
import type { AuthorRows } from "../../testing/store-contract/case.ts";
import { describeStore } from "../../testing/store-contract/index.ts";
import type { SqliteDriver } from "./driver.ts";
import { nodeDriver } from "./driver.ts";
import { sqlite } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "everstep-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paths = new WeakMap<Store, string>();
let files = 0;

function openFile(path: string = join(folder, `${++files}.db`)): Store {
  // What survives a power failure is the disk's affair; the contract is the same.
  const store = sqlite({ path, synchronous: "normal" });
  paths.set(store, path);
  return store;
}

describeStore(
  {
    name: "sqlite (file)",
    open: () => openFile(),
    reopen: (store) => openFile(paths.get(store)),
    lacks: { nudges: "SQLite has no notification channel; polling covers it" },
    rows: authorRows((store) => new DatabaseSync(paths.get(store) as string)),
    transactions: {
      async run(store, end, body) {
        const database = new DatabaseSync(paths.get(store) as string);
        database.exec("BEGIN IMMEDIATE");
        try {
          await body(database);
          database.exec(end);
        } finally {
          database.close();
        }
      },
    },
  },
  { describe, it },
);

const handles = new WeakMap<Store, DatabaseSync>();

/** Nobody else can look into a database in memory, so the test keeps the store's own handle. */
function openMemory(): Store {
  const driver: SqliteDriver = {
    ...nodeDriver,
    async open(path, options) {
      const database = await nodeDriver.open(path, options);
      handles.set(store, database.handle as DatabaseSync);
      return database;
    },
  };
  const store: Store = sqlite({ path: ":memory:", driver });
  return store;
}

describeStore(
  {
    name: "sqlite (memory)",
    open: openMemory,
    lacks: {
      durable: "the data lives in the memory of one process",
      shared: "the data lives in the memory of one process",
      transactions: "nobody else can open this database",
      nudges: "SQLite has no notification channel; polling covers it",
      ownership: "when the owner dies its data dies with it",
    },
    rows: authorRows((store) => handles.get(store) as DatabaseSync),
  },
  { describe, it },
);

function authorRows(databaseOf: (store: Store) => DatabaseSync): AuthorRows {
  return {
    synchronous: true,
    prepare: (store) => databaseOf(store).exec("CREATE TABLE author_row (key TEXT PRIMARY KEY, value TEXT)"),
    insert: (db: DatabaseSync, key, value) => {
      db.prepare("INSERT INTO author_row (key, value) VALUES (?, ?)").run(key, value);
    },
    read: (store, key) =>
      databaseOf(store).prepare("SELECT value FROM author_row WHERE key = ?").get(key)?.value as
        | string
        | undefined,
  };
}
