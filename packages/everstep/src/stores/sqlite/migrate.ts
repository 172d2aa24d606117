/** Brings the tables up to date. Several processes may do so at once: the second finds nothing left to do. */
import { existsSync } from "node:fs";
import { EverstepError } from "../../model/error.ts";
import type { MigrationReport } from "../../store/store.ts";
import { integer } from "../sql/rows/row.ts";
import { type Migration, pendingMigrations, type SchemaVersion } from "../sql/schema/migration.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { SqliteDatabase } from "./driver.ts";
import { placeOf } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";
import { migrations, tableNames } from "./schema.ts";

export function migrateSchema(
  db: SqliteDatabase,
  names: TableNames,
  settings: SqliteSettings,
): MigrationReport {
  const look = (): { readonly version: number; readonly pending: readonly Migration<TableNames>[] } => {
    const found = readVersion(db, names, settings);
    return { version: found?.version ?? 0, pending: pendingMigrations(migrations, found, placeOf(settings)) };
  };
  const { version, pending } = look();
  if (pending.length === 0) return { from: version, to: version, statements: [] };

  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster while this one waited for the lock.
    const now = look();
    const report = reportOf(now.version, now.pending, names);
    for (const statement of report.statements) db.exec(statement);
    db.exec("COMMIT");
    return report;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Whether the tables are there and up to date, as the connection sees them in its transaction. */
export function hasOwnSchema(db: SqliteDatabase, settings: SqliteSettings): boolean {
  const found = readVersion(db, tableNames(settings.namespace), settings);
  return pendingMigrations(migrations, found, placeOf(settings)).length === 0;
}

/** What would be done to the file, or to one that is not there yet. Changes nothing. */
export async function planSchema(settings: SqliteSettings): Promise<MigrationReport> {
  const { driver, file, busyTimeoutMs, namespace } = settings;
  const names = tableNames(namespace);
  if (file === null || !existsSync(file)) return reportOf(0, migrations, names);
  const db = await driver.open(file, { busyTimeoutMs, create: false });
  try {
    const found = readVersion(db, names, settings);
    return reportOf(found?.version ?? 0, pendingMigrations(migrations, found, placeOf(settings)), names);
  } finally {
    db.close();
  }
}

function reportOf(
  from: number,
  pending: readonly Migration<TableNames>[],
  names: TableNames,
): MigrationReport {
  const statements = pending.flatMap((migration) => statementsOf(migration, names));
  return { from, to: pending.at(-1)?.version ?? from, statements };
}

function statementsOf(migration: Migration<TableNames>, names: TableNames): readonly string[] {
  const { version, oldestCompatible } = migration;
  return [
    ...(version === 1 ? firstMeta(names) : []),
    ...migration.statements(names),
    `INSERT OR REPLACE INTO ${names.meta} (name, value)
      VALUES ('schema_version', ${version}), ('oldest_compatible', ${oldestCompatible})`,
  ];
}

function firstMeta({ meta }: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${meta} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO ${meta} (name, value) VALUES ('last_run', 0)`,
  ];
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
