/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, payloads lie in tables that
 * are written once, and an index holds only the rows somebody looks for, so that finished runs cost nothing.
 */
import { existsSync } from "node:fs";
import type { MigrationReport } from "../../store/store.ts";
import {
  type Migration,
  notOurs,
  pendingMigrations,
  readVersion,
  reportOf,
  type SchemaVersion,
  versionText,
} from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, type TableText, withAdditions } from "../sql/schema/schema-text.ts";
import { type Table, type TableNames, tables } from "../sql/schema/table.ts";
import type { SqliteDatabase } from "./driver.ts";
import { placeOf } from "./failures.ts";
import type { SqliteSettings } from "./options.ts";

export function tableNames(namespace: string): TableNames {
  return Object.fromEntries(tables.map((table) => [table, `${namespace}_${table}`])) as TableNames;
}

const dialect: SchemaDialect = {
  types: {
    integer: "INTEGER",
    small: "INTEGER",
    workflow: "TEXT",
    instance: "TEXT",
    name: "TEXT",
    id: "TEXT",
    key: "TEXT",
    word: "TEXT",
    payload: "TEXT",
  },
  countsFromZero: true,
  keysAreNotNull: true,
};

export const migrations: readonly Migration<TableNames>[] = withAdditions(
  [
    { version: 1, oldestCompatible: 1, statements: firstSchema },
    { version: 2, oldestCompatible: 1, statements: changeIds },
    { version: 3, oldestCompatible: 1, statements: runnersAndTallies },
  ],
  dialect,
);

/** `more`: constraints. Rows that are found by their primary key alone are kept in its order. */
function created(
  names: TableNames,
  table: Table,
  { more = [], ...text }: TableText & { readonly more?: readonly string[] } = {},
): string {
  const lines = [...columnTexts(dialect, table, text), ...more];
  const hasRowId = lines.some((line) => line.includes("INTEGER PRIMARY KEY"));
  return `CREATE TABLE ${names[table]} (
      ${lines.join(",\n      ")}
    ) STRICT${hasRowId ? "" : ", WITHOUT ROWID"}`;
}

function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    created(names, "runner"),
    `CREATE INDEX ${names.runner}_seen ON ${names.runner} (seen_at)`,
    created(names, "tally"),
  ];
}

function changeIds(names: TableNames): readonly string[] {
  return [created(names, "change")];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    created(names, "instance", { more: ["UNIQUE (workflow, instance_id)"] }),
    created(names, "run"),
    `CREATE INDEX ${names.run}_claim ON ${names.run} (workflow, lane, due_at) WHERE lane IS NOT NULL`,
    `CREATE INDEX ${names.run}_list ON ${names.run} (workflow, status, created_at, instance)
      WHERE is_current = 1`,
    `CREATE INDEX ${names.run}_dead_letter ON ${names.run} (workflow, created_at, instance)
      WHERE is_current = 1 AND dead_letter = 1`,
    `CREATE INDEX ${names.run}_prune ON ${names.run} (prune_at, instance) WHERE prune_at IS NOT NULL`,
    // First runs are found by the instance's own id.
    `CREATE UNIQUE INDEX ${names.run}_later ON ${names.run} (instance, run_number) WHERE run_number > 1`,
    created(names, "ending"),
    created(names, "step"),
    `CREATE INDEX ${names.step}_open ON ${names.step} (run) WHERE is_open = 1`,
    `CREATE INDEX ${names.step}_topic ON ${names.step} (topic) WHERE is_open = 1 AND topic IS NOT NULL`,
    created(names, "event", { own: { id: "TEXT NOT NULL UNIQUE" } }),
    created(names, "log"),
    created(names, "publication", {
      own: { seq: "INTEGER PRIMARY KEY", id: "TEXT NOT NULL UNIQUE" },
      primaryKey: ["seq"],
    }),
    `CREATE INDEX ${names.publication}_age ON ${names.publication} (created_at)`,
  ];
}

/** Brings the tables up to date. Several processes may do so at once: the second finds nothing left to do. */
export function migrateSchema(db: SqliteDatabase, settings: SqliteSettings): MigrationReport {
  const seen = planFor(db, settings);
  if (seen.statements.length === 0) return seen;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster while this one waited for the lock.
    const now = planFor(db, settings);
    for (const statement of now.statements) db.exec(statement);
    db.exec("COMMIT");
    return now;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Whether the tables are there and up to date, as the connection sees them in its transaction. */
export function hasOwnSchema(db: SqliteDatabase, settings: SqliteSettings): boolean {
  return planFor(db, settings).statements.length === 0;
}

/** What would be done to the file, or to one that is not there yet. Changes nothing. */
export async function planSchema(settings: SqliteSettings): Promise<MigrationReport> {
  const { driver, file, busyTimeoutMs } = settings;
  if (file === null || !existsSync(file)) return reportFor(null, settings);
  const db = await driver.open(file, { busyTimeoutMs, create: false });
  try {
    return planFor(db, settings);
  } finally {
    db.close();
  }
}

function planFor(db: SqliteDatabase, settings: SqliteSettings): MigrationReport {
  const { meta } = tableNames(settings.namespace);
  const columns = db.prepare("SELECT name FROM pragma_table_info(?) ORDER BY name").all(meta);
  if (columns.length === 0) return reportFor(null, settings);
  const isOurs = columns.map((column) => column.name).join() === "name,value";
  const found = isOurs ? readVersion(db.prepare(versionText(meta)).all()) : undefined;
  if (found === undefined) throw notOurs(placeOf(settings), meta, "`namespace` or another file");
  return reportFor(found, settings);
}

function reportFor(found: SchemaVersion | null, settings: SqliteSettings): MigrationReport {
  const names = tableNames(settings.namespace);
  const pending = pendingMigrations(migrations, found, placeOf(settings));
  const report = reportOf(found, pending, names, ({ version, oldestCompatible }) => [
    `INSERT OR REPLACE INTO ${names.meta} (name, value)
      VALUES ('schema_version', ${version}), ('oldest_compatible', ${oldestCompatible})`,
  ]);
  const begins = pending[0]?.version === 1;
  return begins ? { ...report, statements: [...firstMeta(names), ...report.statements] } : report;
}

function firstMeta({ meta }: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${meta} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO ${meta} (name, value) VALUES ('last_run', 0)`,
  ];
}
