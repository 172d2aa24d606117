/**
 * The tables, as numbered migrations. Never edit one that was released: add the next. DDL commits by itself here, so every
 * statement may be run again: what was done before a process died is not undone, and does no harm.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, and payloads lie in tables that
 * are written once. There are no partial indexes, so each index costs an entry for every row: there are few.
 */
import type { Migration } from "../sql/migration.ts";
import { type TableNames, tables } from "../sql/table.ts";

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

export const migrations: readonly Migration<TableNames>[] = [
  { version: 1, oldestCompatible: 1, statements: firstSchema },
  { version: 2, oldestCompatible: 1, statements: runnersAndTallies },
];

/** How our tables are told from others of the same name. */
export const ourComment = "everstep";

/**
 * Ids, names and keys are bytes: every other type takes "a" and "a " for the same somewhere. The lengths are what an index
 * can hold with the smallest pages. Words of a closed set are plain ASCII; payloads are text, so that people can read them.
 */
const workflow = "VARBINARY(255)";
const instanceId = "VARBINARY(512)";
const id = "VARBINARY(767)";
const name = "VARBINARY(512)";
const key = "BLOB";
const word = "VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin";
const payload = "LONGTEXT";
const flag = "TINYINT";

function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (
  ${columns.join(",\n  ")}
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT = '${ourComment}'`;
}

/** `workflows`: JSON list of names; `minute`: when it began. */
function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    table(names.runner, [
      `owner ${name} NOT NULL PRIMARY KEY`,
      `host ${payload}`,
      "pid BIGINT",
      "started_at BIGINT NOT NULL",
      "seen_at BIGINT NOT NULL",
      "stopped_at BIGINT",
      "concurrency BIGINT NOT NULL",
      "turns BIGINT NOT NULL",
      `workflows ${payload} NOT NULL`,
      "KEY `seen` (seen_at)",
    ]),
    table(names.tally, [
      "`minute` BIGINT NOT NULL",
      `workflow ${workflow} NOT NULL`,
      "complete BIGINT NOT NULL",
      "errored BIGINT NOT NULL",
      "`terminated` BIGINT NOT NULL",
      "steps BIGINT NOT NULL",
      "failed_attempts BIGINT NOT NULL",
      "PRIMARY KEY (`minute`, workflow)",
    ]),
  ];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    // `id` is the id of the first run; `run` the current one.
    table(names.instance, [
      "id BIGINT NOT NULL PRIMARY KEY",
      `workflow ${workflow} NOT NULL`,
      `instance_id ${instanceId} NOT NULL`,
      "run BIGINT NOT NULL",
      "created_at BIGINT NOT NULL",
      "deadline_at BIGINT",
      "retention_ms BIGINT",
      `parent_workflow ${workflow}`,
      `parent_instance ${instanceId}`,
      `params ${payload} NOT NULL`,
      `params_marks ${payload}`,
      "UNIQUE KEY `name` (workflow, instance_id)",
    ]),

    // `due_at` doubles as the end of the lease, `owner` is the last one, `recorded` is 0 until there is a history,
    // `created_at` is the instance's, for the order of lists. Runs that want no turn have no lane: they stand in the
    // claim's index too, but at a place where nobody looks.
    table(names.run, [
      "id BIGINT NOT NULL PRIMARY KEY",
      "instance BIGINT NOT NULL",
      `workflow ${workflow} NOT NULL`,
      "run_number BIGINT NOT NULL",
      "previous_run BIGINT",
      `is_current ${flag} NOT NULL`,
      `status ${word} NOT NULL`,
      `kind ${word} NOT NULL`,
      "lane TINYINT",
      "due_at BIGINT NOT NULL",
      `owner ${name}`,
      "token BIGINT NOT NULL",
      "last_commit BIGINT NOT NULL DEFAULT 0",
      "event_seq BIGINT NOT NULL DEFAULT 0",
      "log_seq BIGINT NOT NULL DEFAULT 0",
      "crash_count BIGINT NOT NULL DEFAULT 0",
      `recorded ${flag} NOT NULL`,
      `dead_letter ${flag} NOT NULL DEFAULT 0`,
      "created_at BIGINT NOT NULL",
      "started_at BIGINT",
      "waiting_since BIGINT",
      "paused_at BIGINT",
      "updated_at BIGINT NOT NULL",
      "prune_at BIGINT",
      `begun ${payload}`,
      "KEY `claim` (workflow, lane, due_at, id)",
      "KEY `list` (workflow, is_current, status, created_at, instance)",
      "KEY `dead_letter` (workflow, is_current, dead_letter, created_at, instance)",
      "KEY `prune` (prune_at, instance)",
      "UNIQUE KEY `numbered` (instance, run_number)",
    ]),

    table(names.ending, [
      "run BIGINT NOT NULL PRIMARY KEY",
      "completed_at BIGINT NOT NULL",
      `output ${payload}`,
      `output_marks ${payload}`,
      `error ${payload}`,
      `reason ${payload}`,
    ]),

    // `is_open`: a wait of a run that has not ended.
    table(names.step, [
      "run BIGINT NOT NULL",
      "step_index BIGINT NOT NULL",
      `\`key\` ${key} NOT NULL`,
      `name ${key} NOT NULL`,
      "count BIGINT NOT NULL",
      `type ${word} NOT NULL`,
      `status ${word} NOT NULL`,
      `is_open ${flag} NOT NULL`,
      `parent_key ${key}`,
      "depth BIGINT NOT NULL",
      "created_at BIGINT NOT NULL",
      "attempts BIGINT NOT NULL",
      "starts BIGINT NOT NULL",
      "max_attempts BIGINT",
      "timeout_ms BIGINT",
      `event_type ${name}`,
      `topic ${name}`,
      `waits_for ${word}`,
      "wake_at BIGINT",
      "settled_index BIGINT",
      "settled_at BIGINT",
      `errors ${payload}`,
      `error ${payload}`,
      `result ${payload}`,
      `result_marks ${payload}`,
      "PRIMARY KEY (run, step_index)",
      "KEY `open` (run, is_open)",
      "KEY `topic` (topic, is_open)",
    ]),

    table(names.event, [
      "run BIGINT NOT NULL",
      "seq BIGINT NOT NULL",
      `id ${id} NOT NULL`,
      `type ${name}`,
      `topic ${name}`,
      `for_step ${key}`,
      `is_system ${flag} NOT NULL`,
      "created_at BIGINT NOT NULL",
      "delivered_at BIGINT",
      `consumed_by ${key}`,
      `payload ${payload} NOT NULL`,
      `payload_marks ${payload}`,
      "PRIMARY KEY (run, seq)",
      "UNIQUE KEY `id` (id)",
    ]),

    table(names.log, [
      "run BIGINT NOT NULL",
      "seq BIGINT NOT NULL",
      `step_key ${key}`,
      "attempt BIGINT",
      `level ${word} NOT NULL`,
      `category ${name} NOT NULL`,
      `message ${payload} NOT NULL`,
      `is_replay ${flag} NOT NULL`,
      "created_at BIGINT NOT NULL",
      `data ${payload}`,
      `data_marks ${payload}`,
      "PRIMARY KEY (run, seq)",
    ]),

    // `runs`: JSON list of the runs it reached.
    table(names.publication, [
      `id ${id} NOT NULL PRIMARY KEY`,
      `topic ${name} NOT NULL`,
      "created_at BIGINT NOT NULL",
      "waiters BIGINT NOT NULL",
      `runs ${payload} NOT NULL`,
      "KEY `age` (created_at)",
    ]),

    // `outcome`: JSON of the answer that was given.
    table(names.change, [
      "instance BIGINT NOT NULL",
      `id ${name} NOT NULL`,
      `outcome ${payload} NOT NULL`,
      "PRIMARY KEY (instance, id)",
    ]),
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
