import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { WorkflowDefinition } from "everstep";
import { type AuthorRowsHandle, createMemoryDatabase, memory } from "everstep/memory";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { createTestHarness } from "everstep/testing";
import { afterEach, describe } from "vitest";
import type { Tell } from "./each-store.ts";

/** A table of the author's own, with a unique key, in the database that the store uses. */
export interface AuthorTable {
  /** A harness over that database. */
  readonly tell: Tell;
  /** For mutations: writes a row through the transaction handle; a key that is taken is a unique violation. */
  insert(db: unknown, key: string, value: string): void;
  /** For mutations: the value as the transaction sees it. */
  read(db: unknown, key: string): string | undefined;
  /** What is committed, by key, seen from outside of every transaction. */
  rows(): Record<string, string>;
}

/** The same scenarios on every store that takes the author's writes into its transactions. */
export function onEachTable(title: string, scenarios: (open: () => AuthorTable) => void): void {
  describe(`${title} (memory)`, () => scenarios(opening(memoryTable)));
  describe(`${title} (sqlite)`, () => scenarios(opening(sqliteTable)));
}

type Opened = Omit<AuthorTable, "tell"> & { readonly store: () => Store; remove?(): void };

function opening(openTable: () => Opened): () => AuthorTable {
  const cleanUps: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });
  return () => {
    const { store, remove, ...table } = openTable();
    const tell = <const Workflows extends Record<string, WorkflowDefinition>>(
      workflows: Workflows,
      options?: Parameters<Tell>[1],
    ) => {
      const harness = createTestHarness({ workflows, ...options, store });
      cleanUps.unshift(() => harness.stop());
      return harness;
    };
    if (remove) cleanUps.push(remove);
    return { ...table, tell: tell as Tell };
  };
}

function memoryTable(): Opened {
  const database = createMemoryDatabase();
  return {
    store: () => memory({ database }),
    insert: (db, key, value) => (db as AuthorRowsHandle).insert(key, value),
    read: (db, key) => (db as AuthorRowsHandle).get(key) as string | undefined,
    rows: () => Object.fromEntries(database.authorRows) as Record<string, string>,
  };
}

function sqliteTable(): Opened {
  const folder = mkdtempSync(join(tmpdir(), "everstep-mutations-"));
  const path = join(folder, "app.db");
  const outside = new DatabaseSync(path);
  outside.exec("PRAGMA journal_mode = WAL; CREATE TABLE orders (id TEXT PRIMARY KEY, note TEXT NOT NULL)");
  return {
    store: () => sqlite({ path, synchronous: "normal" }),
    insert(db, key, value) {
      (db as DatabaseSync).prepare("INSERT INTO orders (id, note) VALUES (?, ?)").run(key, value);
    },
    read(db, key) {
      return (db as DatabaseSync).prepare("SELECT note FROM orders WHERE id = ?").get(key)?.note as
        | string
        | undefined;
    },
    rows() {
      const rows = outside.prepare("SELECT id, note FROM orders ORDER BY rowid").all();
      return Object.fromEntries(rows.map(({ id, note }) => [id, note])) as Record<string, string>;
    },
    remove() {
      outside.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
