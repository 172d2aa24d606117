/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, payloads lie in tables that
 * are written once, and an index holds only the rows somebody looks for, so that finished runs cost nothing.
 */
import type { Migration } from "../sql/migration.ts";
import { type TableNames, tables } from "../sql/table.ts";

export function tableNames(namespace: string): TableNames {
  return Object.fromEntries(tables.map((table) => [table, `${namespace}_${table}`])) as TableNames;
}

export const migrations: readonly Migration<TableNames>[] = [
  { version: 1, oldestCompatible: 1, statements: firstSchema },
  { version: 2, oldestCompatible: 1, statements: changeIds },
  { version: 3, oldestCompatible: 1, statements: runnersAndTallies },
];

/** `workflows`: JSON list of names; `minute`: when it began. */
function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${names.runner} (
      owner TEXT PRIMARY KEY,
      host TEXT,
      pid INTEGER,
      started_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      stopped_at INTEGER,
      concurrency INTEGER NOT NULL,
      turns INTEGER NOT NULL,
      workflows TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX ${names.runner}_seen ON ${names.runner} (seen_at)`,
    `CREATE TABLE ${names.tally} (
      minute INTEGER NOT NULL,
      workflow TEXT NOT NULL,
      complete INTEGER NOT NULL,
      errored INTEGER NOT NULL,
      terminated INTEGER NOT NULL,
      steps INTEGER NOT NULL,
      failed_attempts INTEGER NOT NULL,
      PRIMARY KEY (minute, workflow)
    ) STRICT, WITHOUT ROWID`,
  ];
}

/** `outcome`: JSON of what was answered. */
function changeIds(names: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${names.change} (
      instance INTEGER NOT NULL,
      id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      PRIMARY KEY (instance, id)
    ) STRICT, WITHOUT ROWID`,
  ];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    // `id` is the id of the first run; `run` the current one.
    `CREATE TABLE ${names.instance} (
      id INTEGER PRIMARY KEY,
      workflow TEXT NOT NULL,
      instance_id TEXT NOT NULL,
      run INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      deadline_at INTEGER,
      retention_ms INTEGER,
      parent_workflow TEXT,
      parent_instance TEXT,
      params TEXT NOT NULL,
      params_marks TEXT,
      UNIQUE (workflow, instance_id)
    ) STRICT`,

    // `due_at` doubles as the end of the lease, `owner` is the last one, `recorded` is 0 until there is a history,
    // `created_at` is the instance's, for the order of lists.
    `CREATE TABLE ${names.run} (
      id INTEGER PRIMARY KEY,
      instance INTEGER NOT NULL,
      workflow TEXT NOT NULL,
      run_number INTEGER NOT NULL,
      previous_run INTEGER,
      is_current INTEGER NOT NULL,
      status TEXT NOT NULL,
      kind TEXT NOT NULL,
      lane INTEGER,
      due_at INTEGER NOT NULL,
      owner TEXT,
      token INTEGER NOT NULL,
      last_commit INTEGER NOT NULL DEFAULT 0,
      event_seq INTEGER NOT NULL DEFAULT 0,
      log_seq INTEGER NOT NULL DEFAULT 0,
      crash_count INTEGER NOT NULL DEFAULT 0,
      recorded INTEGER NOT NULL,
      dead_letter INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      started_at INTEGER,
      waiting_since INTEGER,
      paused_at INTEGER,
      updated_at INTEGER NOT NULL,
      prune_at INTEGER,
      begun TEXT
    ) STRICT`,
    `CREATE INDEX ${names.run}_claim ON ${names.run} (workflow, lane, due_at) WHERE lane IS NOT NULL`,
    `CREATE INDEX ${names.run}_list ON ${names.run} (workflow, status, created_at, instance)
      WHERE is_current = 1`,
    `CREATE INDEX ${names.run}_dead_letter ON ${names.run} (workflow, created_at, instance)
      WHERE is_current = 1 AND dead_letter = 1`,
    `CREATE INDEX ${names.run}_prune ON ${names.run} (prune_at, instance) WHERE prune_at IS NOT NULL`,
    // First runs are found by the instance's own id.
    `CREATE UNIQUE INDEX ${names.run}_later ON ${names.run} (instance, run_number) WHERE run_number > 1`,

    `CREATE TABLE ${names.ending} (
      run INTEGER PRIMARY KEY,
      completed_at INTEGER NOT NULL,
      output TEXT,
      output_marks TEXT,
      error TEXT,
      reason TEXT
    ) STRICT`,

    // `is_open`: a wait of a run that has not ended.
    `CREATE TABLE ${names.step} (
      run INTEGER NOT NULL,
      step_index INTEGER NOT NULL,
      key TEXT NOT NULL,
      name TEXT NOT NULL,
      count INTEGER NOT NULL,
      type TEXT NOT NULL,
      status TEXT NOT NULL,
      is_open INTEGER NOT NULL,
      parent_key TEXT,
      depth INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      starts INTEGER NOT NULL,
      max_attempts INTEGER,
      timeout_ms INTEGER,
      event_type TEXT,
      topic TEXT,
      waits_for TEXT,
      wake_at INTEGER,
      settled_index INTEGER,
      settled_at INTEGER,
      errors TEXT,
      error TEXT,
      result TEXT,
      result_marks TEXT,
      PRIMARY KEY (run, step_index)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX ${names.step}_open ON ${names.step} (run) WHERE is_open = 1`,
    `CREATE INDEX ${names.step}_topic ON ${names.step} (topic) WHERE is_open = 1 AND topic IS NOT NULL`,

    `CREATE TABLE ${names.event} (
      run INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      id TEXT NOT NULL UNIQUE,
      type TEXT,
      topic TEXT,
      for_step TEXT,
      is_system INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      delivered_at INTEGER,
      consumed_by TEXT,
      payload TEXT NOT NULL,
      payload_marks TEXT,
      PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID`,

    `CREATE TABLE ${names.log} (
      run INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      step_key TEXT,
      attempt INTEGER,
      level TEXT NOT NULL,
      category TEXT NOT NULL,
      message TEXT NOT NULL,
      is_replay INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      data TEXT,
      data_marks TEXT,
      PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID`,

    // `runs`: JSON list of the runs it reached.
    `CREATE TABLE ${names.publication} (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      topic TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      waiters INTEGER NOT NULL,
      runs TEXT NOT NULL
    ) STRICT`,
    `CREATE INDEX ${names.publication}_age ON ${names.publication} (created_at)`,
  ];
}
