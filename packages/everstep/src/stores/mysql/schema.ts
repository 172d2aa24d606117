/**
 * The tables, as numbered migrations. Never edit one that was released: add the next. DDL commits by itself here, so every
 * statement may be run again: what was done before a process died is not undone, and does no harm.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, and payloads lie in tables that
 * are written once. There are no partial indexes, so each index costs an entry for every row: there are few.
 */
import type { Migration } from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, withAdditions } from "../sql/schema/schema-text.ts";
import { type Table, type TableNames, tables } from "../sql/schema/table.ts";

/** With the database before them: what a caller's connection takes for its own is another matter. */
export function tableNames(database: string, namespace: string): TableNames {
  const place = `\`${database.replaceAll("`", "``")}\``;
  const names = tables.map((table) => [table, `${place}.\`${namespace}_${table}\``]);
  return Object.fromEntries(names) as unknown as TableNames;
}

/** As the server lists them. */
export function plainTableNames(namespace: string): readonly string[] {
  return tables.map((table) => `${namespace}_${table}`);
}

/** How our tables are told from others of the same name. */
export const ourComment = "everstep";

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
export function metaSchema({ meta }: TableNames): readonly string[] {
  return [
    table(meta, [
      "name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY",
      "value BIGINT NOT NULL",
    ]),
    `INSERT INTO ${meta} (name, value) VALUES ('last_run', 0) ON DUPLICATE KEY UPDATE value = value`,
  ];
}

export function versionStatement(
  { meta }: TableNames,
  { version, oldestCompatible }: Migration<TableNames>,
): string {
  return `INSERT INTO ${meta} (name, value)
  VALUES ('schema_version', ${version}), ('oldest_compatible', ${oldestCompatible})
  ON DUPLICATE KEY UPDATE value = VALUES(value)`;
}
