/**
 * The tables, as numbered migrations. Never edit one that was released: add the next. DDL commits by itself here, so every
 * statement may be run again: what was done before a process died is not undone, and does no harm.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, and payloads lie in tables that
 * are written once. There are no partial indexes, so each index costs an entry for every row: there are few.
 */
import { StoreError } from "../../model/error.ts";
import type { MigrateOptions, MigrationReport } from "../../store/store.ts";
import { type SqlRow, text } from "../sql/rows/row.ts";
import {
  type Migration,
  notOurs,
  pendingMigrations,
  readVersion,
  reportOf,
  versionText,
} from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, withAdditions } from "../sql/schema/schema-text.ts";
import { type Table, type TableNames, tables } from "../sql/schema/table.ts";
import type { Session } from "../sql/session.ts";
import { isColumnThere } from "./failures.ts";
import type { MysqlSettings } from "./options.ts";
import { readServerSettings, requireVersion } from "./server-settings.ts";
import type { MysqlDatabase } from "./session.ts";

/** With the database before them: what a caller's connection takes for its own is another matter. */
export function tableNames(database: string, namespace: string): TableNames {
  const place = `\`${database.replaceAll("`", "``")}\``;
  const names = tables.map((table) => [table, `${place}.\`${namespace}_${table}\``]);
  return Object.fromEntries(names) as unknown as TableNames;
}

/** How our tables are told from others of the same name. */
const ourComment = "everstep";

/**
 * Ids, names and keys are bytes: every other type takes "a" and "a " for the same somewhere. The lengths are what an index
 * can hold with the smallest pages. Words of a closed set are plain ASCII; payloads are text, so that people can read them.
 */
const dialect: SchemaDialect = {
  types: {
    integer: "BIGINT",
    small: "TINYINT",
    workflow: "VARBINARY(255)",
    instance: "VARBINARY(512)",
    name: "VARBINARY(512)",
    id: "VARBINARY(767)",
    key: "BLOB",
    word: "VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin",
    payload: "LONGTEXT",
  },
  quoted: (column) => (["key", "minute", "terminated"].includes(column) ? `\`${column}\`` : column),
  countsFromZero: true,
  keysAreNotNull: false,
};

export const migrations: readonly Migration<TableNames>[] = withAdditions(
  [
    { version: 1, oldestCompatible: 1, statements: firstSchema },
    { version: 2, oldestCompatible: 1, statements: runnersAndTallies },
  ],
  dialect,
);

/** `keys`: its indexes. */
function created(names: TableNames, name: Table, keys: readonly string[] = []): string {
  return table(names[name], [...columnTexts(dialect, name), ...keys]);
}

function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (
  ${columns.join(",\n  ")}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT = '${ourComment}'`;
}

function runnersAndTallies(names: TableNames): readonly string[] {
  return [created(names, "runner", ["KEY `seen` (seen_at)"]), created(names, "tally")];
}

/** Runs that want no turn have no lane: they stand in the claim's index too, but at a place where nobody looks. */
function firstSchema(names: TableNames): readonly string[] {
  return [
    created(names, "instance", ["UNIQUE KEY `name` (workflow, instance_id)"]),
    created(names, "run", [
      "KEY `claim` (workflow, lane, due_at, id)",
      "KEY `list` (workflow, is_current, status, created_at, instance)",
      "KEY `dead_letter` (workflow, is_current, dead_letter, created_at, instance)",
      "KEY `prune` (prune_at, instance)",
      "UNIQUE KEY `numbered` (instance, run_number)",
    ]),
    created(names, "ending"),
    created(names, "step", ["KEY `open` (run, is_open)", "KEY `topic` (topic, is_open)"]),
    created(names, "event", ["UNIQUE KEY `id` (id)"]),
    created(names, "log"),
    created(names, "publication", ["KEY `age` (created_at)"]),
    created(names, "change"),
  ];
}

/** The first statements of all: where the version is kept, and the last id of a run. */
function metaSchema({ meta }: TableNames): readonly string[] {
  return [
    table(meta, [
      "name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY",
      "value BIGINT NOT NULL",
    ]),
    `INSERT INTO ${meta} (name, value) VALUES ('last_run', 0) ON DUPLICATE KEY UPDATE value = value`,
  ];
}

/**
 * Brings the tables up to date. Every statement of DDL commits by itself, so a named lock keeps other processes away
 * meanwhile, and a migration that was cut off is simply done again from its first statement.
 */
export async function migrateSchema(
  database: MysqlDatabase,
  settings: MysqlSettings,
  { plan = false }: MigrateOptions,
): Promise<MigrationReport> {
  const { place } = settings;
  const ask = asking((statements) => database.run(statements));
  if (!plan && (await readServerSettings(ask)).isReadOnly) {
    throw new StoreError(
      "fatal",
      "STORE_READ_ONLY",
      `${place} is read-only, so nothing can be kept there. Connect to the primary, not to a replica.`,
    );
  }
  const planned = await planFor(ask, settings);
  if (plan || planned.statements.length === 0) return planned;
  return database.alone(async (run) => {
    const askAlone = asking(run);
    await takeLock(askAlone, settings);
    // Other processes may have been faster while this one waited.
    const report = await planFor(askAlone, settings);
    for (const statement of report.statements) {
      await askAlone(statement).catch((problem: unknown) => {
        // Added by a migration that was cut off before it had written its version.
        if (!isColumnThere(problem)) throw problem;
      });
    }
    await askAlone(`SELECT RELEASE_LOCK(${lockName})`, [lockKey(settings)]);
    return report;
  });
}

/** What would be done. Refuses tables that are not ours or too new, and servers that are too old. */
async function planFor(ask: Ask, { connect, namespace, place }: MysqlSettings): Promise<MigrationReport> {
  const [server = {}] = await ask("SELECT VERSION() AS version");
  requireVersion(text(server, "version"), place);
  const there = await ask(
    `SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = ? AND TABLE_NAME IN (?)`,
    [connect.database, tables.map((table) => `${namespace}_${table}`)],
  );
  const stranger = there.find((row) => text(row, "comment") !== ourComment);
  if (stranger !== undefined) throw notOurs(place, text(stranger, "name"), "`namespace` or another database");
  const names = tableNames(connect.database, namespace);
  const hasMeta = there.some((row) => text(row, "name") === `${namespace}_meta`);
  // Not there also when the first migration was cut off before it had written its version.
  const found = (hasMeta ? readVersion(await ask(versionText(names.meta))) : null) ?? null;
  const pending = pendingMigrations(migrations, found, place);
  const report = reportOf(found, pending, names, ({ version, oldestCompatible }) => [
    `INSERT INTO ${names.meta} (name, value)
  VALUES ('schema_version', ${version}), ('oldest_compatible', ${oldestCompatible})
  ON DUPLICATE KEY UPDATE value = VALUES(value)`,
  ]);
  const begins = pending[0]?.version === 1;
  return begins ? { ...report, statements: [...metaSchema(names), ...report.statements] } : report;
}

async function takeLock(ask: Ask, settings: MysqlSettings): Promise<void> {
  const patience = Math.max(1, Math.floor(settings.statementTimeoutMs / 2000));
  for (let waited = 0; waited < lockSeconds; waited += patience) {
    const [row] = await ask(`SELECT GET_LOCK(${lockName}, ?) AS taken`, [lockKey(settings), patience]);
    if (row?.taken === 1) return;
  }
  throw new StoreError(
    "unavailable",
    "STORE_BUSY",
    `${settings.place} is being migrated by another process, and has been for ${lockSeconds} seconds. Try again when it is done.`,
  );
}

const lockSeconds = 60;
// Names of locks belong to the whole server and are short. The lock ends with the connection at the latest.
const lockName = "CONCAT('everstep ', SHA1(?))";

function lockKey({ connect, namespace }: MysqlSettings): string {
  return `${connect.database}\n${namespace}`;
}

type Ask = (sql: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

function asking(run: Session["run"]): Ask {
  return async (sql, values = []) => (await run([{ sql, values }]))[0]?.rows ?? [];
}
