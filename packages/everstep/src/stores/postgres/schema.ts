/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload and leaves room on its page, so
 * that most updates need no new index entry; an index holds only the rows somebody looks for, so that finished runs cost
 * nothing. Ids, names and keys compare byte by byte.
 */
import { StoreError } from "../../model/error.ts";
import type { MigrateOptions, MigrationReport } from "../../store/store.ts";
import { flag, text } from "../sql/rows/row.ts";
import {
  type Migration,
  notOurs,
  pendingMigrations,
  readVersion,
  reportOf,
  versionText,
} from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, type TableText, withAdditions } from "../sql/schema/schema-text.ts";
import { type Table, type TableNames, tables } from "../sql/schema/table.ts";
import type { Database, Session, Statement } from "../sql/session.ts";
import type { PostgresSettings } from "./options.ts";

/** Always with the schema, so that no search_path decides whose tables these are. */
export function tableNames(namespace: string): TableNames {
  return Object.fromEntries(tables.map((table) => [table, `"${namespace}".${table}`])) as TableNames;
}

const id = `text COLLATE "C"`;

const dialect: SchemaDialect = {
  types: {
    integer: "bigint",
    small: "smallint",
    workflow: id,
    instance: id,
    name: id,
    id,
    key: id,
    word: id,
    payload: "text",
  },
  countsFromZero: false,
  keysAreNotNull: true,
};

export const migrations: readonly Migration<TableNames>[] = withAdditions(
  [
    { version: 1, oldestCompatible: 1, statements: firstSchema },
    { version: 2, oldestCompatible: 1, statements: runnersAndTallies },
  ],
  dialect,
);

/** `more`: constraints; `settings`: of the table. Columns of a fixed width come first, so that nothing is lost between them. */
function created(
  names: TableNames,
  table: Table,
  { more = [], settings, ...text }: TableText & { more?: readonly string[]; settings?: string } = {},
): string {
  return `CREATE TABLE ${names[table]} (
      ${[...columnTexts(dialect, table, text), ...more].join(",\n      ")}
    )${settings === undefined ? "" : ` WITH (${settings})`}`;
}

/** Rows here change often and stay few between two visits; waiting for a share of a large table would let them pile up. */
const busyTable = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05";

function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    created(names, "runner"),
    `CREATE INDEX runner_seen ON ${names.runner} (seen_at)`,
    created(names, "tally"),
  ];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    created(names, "meta"),
    `INSERT INTO ${names.meta} (name, value) VALUES ('last_run', 0)`,
    created(names, "instance", { more: ["UNIQUE (workflow, instance_id)"] }),
    created(names, "run", {
      order: [
        ...["id", "instance", "created_at", "due_at", "token", "last_commit", "event_seq", "log_seq"],
        ...["crash_count", "run_number", "previous_run", "started_at", "waiting_since", "paused_at"],
        ...["updated_at", "prune_at", "lane", "is_current", "recorded", "dead_letter", "workflow", "status"],
        ...["kind", "owner", "begun"],
      ],
      settings: `fillfactor = 70, ${busyTable}`,
    }),
    `CREATE INDEX run_claim ON ${names.run} (workflow, lane, due_at, id) WHERE lane IS NOT NULL`,
    `CREATE INDEX run_list ON ${names.run} (workflow, status, created_at, instance) WHERE is_current = 1`,
    `CREATE INDEX run_dead_letter ON ${names.run} (workflow, created_at, instance)
      WHERE is_current = 1 AND dead_letter = 1`,
    `CREATE INDEX run_prune ON ${names.run} (prune_at, instance) WHERE prune_at IS NOT NULL`,
    // First runs are found by the instance's own id.
    `CREATE UNIQUE INDEX run_later ON ${names.run} (instance, run_number) WHERE run_number > 1`,
    created(names, "ending"),
    created(names, "step", {
      order: [
        ...["run", "step_index", "count", "depth", "created_at", "attempts", "starts", "max_attempts"],
        ...["timeout_ms", "wake_at", "settled_index", "settled_at", "is_open", "key", "name", "type"],
        ...["status", "parent_key", "event_type", "topic", "waits_for", "errors", "error", "result"],
        "result_marks",
      ],
      settings: busyTable,
    }),
    `CREATE INDEX step_open ON ${names.step} (run) WHERE is_open = 1`,
    `CREATE INDEX step_topic ON ${names.step} (topic, run, step_index) WHERE is_open = 1 AND topic IS NOT NULL`,
    created(names, "event", {
      order: [
        ...["run", "seq", "created_at", "delivered_at", "is_system", "id", "type", "topic", "for_step"],
        ...["consumed_by", "payload", "payload_marks"],
      ],
      own: { id: `${id} NOT NULL UNIQUE` },
      settings: busyTable,
    }),
    `CREATE INDEX event_undelivered ON ${names.event} (run, seq) WHERE delivered_at IS NULL`,
    created(names, "log", {
      order: [
        ...["run", "seq", "created_at", "attempt", "is_replay", "step_key", "level", "category", "message"],
        ...["data", "data_marks"],
      ],
    }),
    created(names, "publication", {
      order: ["id", "seq", "created_at", "waiters", "topic", "runs"],
      own: { seq: "bigint GENERATED ALWAYS AS IDENTITY" },
    }),
    `CREATE INDEX publication_age ON ${names.publication} (created_at)`,
    created(names, "change"),
  ];
}

/** Brings the tables up to date, in one transaction. Several processes may do so at once: they queue, and find it done. */
export async function migrateSchema(
  database: Database,
  settings: PostgresSettings,
  { plan = false }: MigrateOptions,
): Promise<MigrationReport> {
  const seen = await planFor(database, settings);
  if (plan || seen.statements.length === 0) return seen;
  return database.transact(async (tx) => {
    // Another process may have been faster while this one waited for the lock.
    await tx.run([lockOf(settings)]);
    const now = await planFor(tx, settings);
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

async function planFor(session: Session, { namespace, place }: PostgresSettings): Promise<MigrationReport> {
  const names = tableNames(namespace);
  const [read] = await session.run([{ sql: lookText, values: [namespace, namespace] }]);
  const row = read?.rows[0] ?? {};
  if (flag(row, "is_standby"))
    throw readOnly(`${place} is a standby and cannot be written. Connect to the primary.`);
  if (flag(row, "is_read_only")) {
    const how = "is set to default_transaction_read_only = on. Set it off for this user or database.";
    throw readOnly(`${place} ${how}`);
  }
  const found = row.meta === null ? null : await foundVersion(session, names, text(row, "meta"));
  if (found === undefined) throw notOurs(place, `${namespace}.meta`, "`namespace`");
  const report = reportOf(found, pendingMigrations(migrations, found, place), names, (migration) =>
    Object.entries({ schema_version: migration.version, oldest_compatible: migration.oldestCompatible }).map(
      ([name, value]) =>
        `INSERT INTO ${names.meta} (name, value) VALUES ('${name}', ${value}) ON CONFLICT (name) DO UPDATE SET value = ${value}`,
    ),
  );
  if (report.statements.length === 0 || flag(row, "has_schema")) return report;
  return { ...report, statements: [`CREATE SCHEMA IF NOT EXISTS "${namespace}"`, ...report.statements] };
}

const lookText = `SELECT
    pg_is_in_recovery() AS is_standby,
    current_setting('default_transaction_read_only') = 'on' AS is_read_only,
    EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = ?) AS has_schema,
    (SELECT string_agg(a.attname || ' ' || pg_catalog.format_type(a.atttypid, NULL), ',' ORDER BY a.attname)
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname = ? AND c.relname = 'meta') AS meta`;

function readOnly(sentence: string): StoreError {
  return new StoreError("fatal", "STORE_READ_ONLY", sentence);
}

/** Undefined for a table that is another's. */
async function foundVersion(session: Session, { meta }: TableNames, columns: string) {
  if (columns !== "name text,value bigint") return undefined;
  const [read] = await session.run([{ sql: versionText(meta), values: [] }]);
  return readVersion(read?.rows ?? []);
}
