/** Brings the tables up to date, in one transaction. Several processes may do so at once: they queue, and find it done. */
import { EverstepError, StoreError } from "../../model/error.ts";
import type { MigrateOptions, MigrationReport } from "../../store/store.ts";
import { flag, integer, type SqlRow, text } from "../sql/rows/row.ts";
import { pendingMigrations, type SchemaVersion } from "../sql/schema/migration.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Database, Session, Statement } from "../sql/session.ts";
import type { PostgresSettings } from "./options.ts";
import { migrations } from "./schema.ts";

export async function migrateSchema(
  database: Database,
  names: TableNames,
  settings: PostgresSettings,
  { plan = false }: MigrateOptions,
): Promise<MigrationReport> {
  const look = (session: Session) => planFor(session, names, settings);
  const seen = await look(database);
  if (plan || seen.statements.length === 0) return seen;
  return database.transact(async (tx) => {
    // Another process may have been faster while this one waited for the lock.
    await tx.run([lockOf(settings)]);
    const now = await look(tx);
    for (const sql of now.statements) await tx.run([{ sql, values: [] }]);
    return now;
  });
}

function lockOf({ namespace }: PostgresSettings): Statement {
  return {
    sql: "SELECT pg_advisory_xact_lock(hashtextextended(?, 8675309))",
    values: [`everstep migration of ${namespace}`],
  };
}

async function planFor(
  session: Session,
  names: TableNames,
  settings: PostgresSettings,
): Promise<MigrationReport> {
  const { namespace, place } = settings;
  const [read] = await session.run([{ sql: lookText, values: [namespace, namespace] }]);
  const row = read?.rows[0] ?? {};
  refuseReadOnly(row, settings);
  const found = await foundVersion(session, names, row, settings);
  const from = found?.version ?? 0;
  const pending = pendingMigrations(migrations, found, place);
  const made = pending.flatMap(({ version, oldestCompatible, statements }) => [
    ...statements(names),
    ...Object.entries({ schema_version: version, oldest_compatible: oldestCompatible }).map(
      ([name, value]) =>
        `INSERT INTO ${names.meta} (name, value) VALUES ('${name}', ${value}) ON CONFLICT (name) DO UPDATE SET value = ${value}`,
    ),
  ]);
  const needsSchema = made.length > 0 && !flag(row, "has_schema");
  return {
    from,
    to: pending.at(-1)?.version ?? from,
    statements: needsSchema ? [`CREATE SCHEMA IF NOT EXISTS "${namespace}"`, ...made] : made,
  };
}

const lookText = `SELECT
    pg_is_in_recovery() AS is_standby,
    current_setting('default_transaction_read_only') = 'on' AS is_read_only,
    EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = ?) AS has_schema,
    (SELECT string_agg(a.attname || ' ' || pg_catalog.format_type(a.atttypid, NULL), ',' ORDER BY a.attname)
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname = ? AND c.relname = 'meta') AS meta`;

function refuseReadOnly(row: SqlRow, { place }: PostgresSettings): void {
  if (flag(row, "is_standby")) {
    throw new StoreError(
      "fatal",
      "STORE_READ_ONLY",
      `${place} is a standby and cannot be written. Connect to the primary.`,
    );
  }
  if (flag(row, "is_read_only")) {
    throw new StoreError(
      "fatal",
      "STORE_READ_ONLY",
      `${place} is set to default_transaction_read_only = on. Set it off for this user or database.`,
    );
  }
}

async function foundVersion(
  session: Session,
  names: TableNames,
  row: SqlRow,
  settings: PostgresSettings,
): Promise<SchemaVersion | null> {
  if (row.meta === null) return null;
  if (text(row, "meta") !== "name text,value bigint") throw notOurs(settings);
  const sql = `SELECT m.name, m.value FROM ${names.meta} m WHERE m.name IN ('schema_version', 'oldest_compatible')`;
  const [read] = await session.run([{ sql, values: [] }]);
  const values = new Map(read?.rows.map((each) => [text(each, "name"), integer(each, "value")]));
  const version = values.get("schema_version");
  const oldestCompatible = values.get("oldest_compatible");
  if (version === undefined || oldestCompatible === undefined) throw notOurs(settings);
  return { version, oldestCompatible };
}

function notOurs({ place, namespace }: PostgresSettings): EverstepError {
  return new EverstepError(
    "STORE_NOT_OURS",
    `${place} has a table "${namespace}.meta" that everstep did not make; nothing was changed. ` +
      "Choose another `namespace`.",
  );
}
