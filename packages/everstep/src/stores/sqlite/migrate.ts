/** Brings the tables up to date. Several processes may do so at once: the second finds nothing left to do. */
import { EverstepError } from "../../model/error.ts";
import { type Migration, pendingMigrations, type SchemaVersion } from "../sql/migration.ts";
import { integer } from "../sql/row.ts";
import type { SqliteDatabase } from "./driver.ts";
import { placeOf } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";
import { migrations, type TableNames } from "./schema.ts";

export interface SchemaChange {
  readonly from: number;
  readonly to: number;
}

export function migrateSchema(db: SqliteDatabase, names: TableNames, settings: SqliteSettings): SchemaChange {
  const look = (): { readonly version: number; readonly pending: readonly Migration<TableNames>[] } => {
    const found = readVersion(db, names, settings);
    return { version: found?.version ?? 0, pending: pendingMigrations(migrations, found, placeOf(settings)) };
  };
  const { version, pending } = look();
  if (pending.length === 0) return { from: version, to: version };

  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster while this one waited for the lock.
    const now = look();
    for (const migration of now.pending) apply(db, names, migration);
    db.exec("COMMIT");
    return { from: now.version, to: now.pending.at(-1)?.version ?? now.version };
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function apply(db: SqliteDatabase, names: TableNames, migration: Migration<TableNames>): void {
  if (migration.version === 1) {
    db.exec(
      `CREATE TABLE ${names.meta} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    );
    db.exec(`INSERT INTO ${names.meta} (name, value) VALUES ('last_run', 0)`);
  }
  for (const statement of migration.statements(names)) db.exec(statement);
  const keep = db.prepare(`INSERT OR REPLACE INTO ${names.meta} (name, value) VALUES (?, ?)`);
  keep.run("schema_version", migration.version);
  keep.run("oldest_compatible", migration.oldestCompatible);
}

function readVersion(db: SqliteDatabase, names: TableNames, settings: SqliteSettings): SchemaVersion | null {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?) ORDER BY name").all(names.meta);
  if (columns.length === 0) return null;
  if (columns.map((column) => column.name).join() !== "name,value") throw notOurs(names, settings);
  const value = db.prepare(`SELECT value FROM ${names.meta} WHERE name = ?`);
  const version = value.get("schema_version");
  const oldest = value.get("oldest_compatible");
  if (version === undefined || oldest === undefined) throw notOurs(names, settings);
  return { version: integer(version, "value"), oldestCompatible: integer(oldest, "value") };
}

function notOurs(names: TableNames, settings: SqliteSettings): EverstepError {
  return new EverstepError(
    "STORE_NOT_OURS",
    `${placeOf(settings)} has a table "${names.meta}" that everstep did not make; nothing was changed. ` +
      "Choose another `namespace` or another file.",
  );
}
