/**
 * Brings the tables up to date. Every statement of DDL commits by itself, so a named lock keeps other processes away
 * meanwhile, and a migration that was cut off is simply done again from its first statement.
 */
import { EverstepError, StoreError } from "../../model/error.ts";
import type { MigrationReport } from "../../store/store.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import { type Migration, pendingMigrations, type SchemaVersion } from "../sql/schema/migration.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Session } from "../sql/session.ts";
import { isColumnThere } from "./failures.ts";
import type { MysqlSettings } from "./options.ts";
import {
  metaSchema,
  migrations,
  ourComment,
  plainTableNames,
  tableNames,
  versionStatement,
} from "./schema.ts";
import { readServerSettings } from "./server-settings.ts";
import { requireVersion } from "./server-version.ts";
import type { MysqlDatabase } from "./session.ts";

export async function migrateSchema(
  database: MysqlDatabase,
  settings: MysqlSettings,
): Promise<MigrationReport> {
  await refuseReadOnly(
    asking((statements) => database.run(statements)),
    settings,
  );
  const planned = await planSchema(database, settings);
  if (planned.statements.length === 0) return planned;
  return database.alone(async (run) => {
    const ask = asking(run);
    await takeLock(ask, settings);
    // Other processes may have been faster while this one waited.
    const report = reportOf(await look(ask, settings), settings);
    for (const statement of report.statements) {
      await ask(statement).catch((problem: unknown) => {
        // Added by a migration that was cut off before it had written its version.
        if (!isColumnThere(problem)) throw problem;
      });
    }
    await ask(`SELECT RELEASE_LOCK(${lockName})`, [lockKey(settings)]);
    return report;
  });
}

/** What would be done. Changes nothing and waits for nobody. */
export async function planSchema(database: MysqlDatabase, settings: MysqlSettings): Promise<MigrationReport> {
  return reportOf(
    await look(
      asking((statements) => database.run(statements)),
      settings,
    ),
    settings,
  );
}

interface Found {
  readonly version: number;
  readonly pending: readonly Migration<TableNames>[];
}

/** Refuses tables that are not ours or too new, and servers that are too old. */
async function look(ask: Ask, settings: MysqlSettings): Promise<Found> {
  const [server] = await ask("SELECT VERSION() AS version");
  requireVersion(text(server ?? {}, "version"), settings.place);
  const there = await ask(
    `SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = ? AND TABLE_NAME IN (?)`,
    [settings.connect.database, plainTableNames(settings.namespace)],
  );
  const stranger = there.find((row) => text(row, "comment") !== ourComment);
  if (stranger !== undefined) throw notOurs(text(stranger, "name"), settings);
  const hasMeta = there.some((row) => text(row, "name") === `${settings.namespace}_meta`);
  const found = hasMeta ? await readVersion(ask, settings) : null;
  return { version: found?.version ?? 0, pending: pendingMigrations(migrations, found, settings.place) };
}

/** Null also when the first migration was cut off before it had written its version. */
async function readVersion(ask: Ask, settings: MysqlSettings): Promise<SchemaVersion | null> {
  const { meta } = namesOf(settings);
  const rows = await ask(
    `SELECT name, value FROM ${meta} WHERE name IN ('schema_version', 'oldest_compatible')`,
  );
  const value = (name: string): number | undefined => {
    const row = rows.find((row) => text(row, "name") === name);
    return row === undefined ? undefined : integer(row, "value");
  };
  const version = value("schema_version");
  return version === undefined ? null : { version, oldestCompatible: value("oldest_compatible") ?? version };
}

function reportOf({ version, pending }: Found, settings: MysqlSettings): MigrationReport {
  const names = namesOf(settings);
  const statements = pending.flatMap((migration) => [
    ...(migration.version === 1 ? metaSchema(names) : []),
    ...migration.statements(names),
    versionStatement(names, migration),
  ]);
  return { from: version, to: pending.at(-1)?.version ?? version, statements };
}

function namesOf({ connect, namespace }: MysqlSettings): TableNames {
  return tableNames(connect.database, namespace);
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

async function refuseReadOnly(ask: Ask, settings: MysqlSettings): Promise<void> {
  const { isReadOnly } = await readServerSettings(ask);
  if (!isReadOnly) return;
  throw new StoreError(
    "fatal",
    "STORE_READ_ONLY",
    `${settings.place} is read-only, so nothing can be kept there. Connect to the primary, not to a replica.`,
  );
}

function notOurs(name: string, settings: MysqlSettings): EverstepError {
  return new EverstepError(
    "STORE_NOT_OURS",
    `${settings.place} has a table "${name}" that everstep did not make; nothing was changed. ` +
      "Choose another `namespace` or another database.",
  );
}

type Ask = (sql: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

function asking(run: Session["run"]): Ask {
  return async (sql, values = []) => (await run([{ sql, values }]))[0]?.rows ?? [];
}
