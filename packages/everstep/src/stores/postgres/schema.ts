/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload and leaves room on its page, so
 * that most updates need no new index entry; an index holds only the rows somebody looks for, so that finished runs cost
 * nothing. Ids, names and keys compare byte by byte.
 */
import type { Migration } from "../sql/migration.ts";
import type { TableNames } from "../sql/table.ts";

export const migrations: readonly Migration<TableNames>[] = [
  { version: 1, oldestCompatible: 1, statements: firstSchema },
  { version: 2, oldestCompatible: 1, statements: runnersAndTallies },
];

const id = `text COLLATE "C"`;
/** Rows here change often and stay few between two visits; waiting for a share of a large table would let them pile up. */
const busyTable = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05";

/** `workflows`: JSON list of names; `minute`: when it began. */
function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${names.runner} (
      owner ${id} PRIMARY KEY,
      host text,
      pid bigint,
      started_at bigint NOT NULL,
      seen_at bigint NOT NULL,
      stopped_at bigint,
      concurrency bigint NOT NULL,
      turns bigint NOT NULL,
      workflows text NOT NULL
    )`,
    `CREATE INDEX runner_seen ON ${names.runner} (seen_at)`,
    `CREATE TABLE ${names.tally} (
      minute bigint NOT NULL,
      workflow ${id} NOT NULL,
      complete bigint NOT NULL,
      errored bigint NOT NULL,
      terminated bigint NOT NULL,
      steps bigint NOT NULL,
      failed_attempts bigint NOT NULL,
      PRIMARY KEY (minute, workflow)
    )`,
  ];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    `CREATE TABLE ${names.meta} (
      name ${id} PRIMARY KEY,
      value bigint NOT NULL
    )`,
    `INSERT INTO ${names.meta} (name, value) VALUES ('last_run', 0)`,

    // `id` is the id of the first run; `run` the current one.
    `CREATE TABLE ${names.instance} (
      id bigint PRIMARY KEY,
      workflow ${id} NOT NULL,
      instance_id ${id} NOT NULL,
      run bigint NOT NULL,
      created_at bigint NOT NULL,
      deadline_at bigint,
      retention_ms bigint,
      parent_workflow ${id},
      parent_instance ${id},
      params text NOT NULL,
      params_marks text,
      UNIQUE (workflow, instance_id)
    )`,

    // `due_at` doubles as the end of the lease, `owner` is the last one, `recorded` is 0 until there is a history,
    // `created_at` is the instance's, for the order of lists.
    `CREATE TABLE ${names.run} (
      id bigint PRIMARY KEY,
      instance bigint NOT NULL,
      created_at bigint NOT NULL,
      due_at bigint NOT NULL,
      token bigint NOT NULL,
      last_commit bigint NOT NULL,
      event_seq bigint NOT NULL,
      log_seq bigint NOT NULL,
      crash_count bigint NOT NULL,
      run_number bigint NOT NULL,
      previous_run bigint,
      started_at bigint,
      waiting_since bigint,
      paused_at bigint,
      updated_at bigint NOT NULL,
      prune_at bigint,
      lane smallint,
      is_current smallint NOT NULL,
      recorded smallint NOT NULL,
      dead_letter smallint NOT NULL,
      workflow ${id} NOT NULL,
      status ${id} NOT NULL,
      kind ${id} NOT NULL,
      owner ${id},
      begun text
    ) WITH (fillfactor = 70, ${busyTable})`,
    `CREATE INDEX run_claim ON ${names.run} (workflow, lane, due_at, id) WHERE lane IS NOT NULL`,
    `CREATE INDEX run_list ON ${names.run} (workflow, status, created_at, instance) WHERE is_current = 1`,
    `CREATE INDEX run_dead_letter ON ${names.run} (workflow, created_at, instance)
      WHERE is_current = 1 AND dead_letter = 1`,
    `CREATE INDEX run_prune ON ${names.run} (prune_at, instance) WHERE prune_at IS NOT NULL`,
    // First runs are found by the instance's own id.
    `CREATE UNIQUE INDEX run_later ON ${names.run} (instance, run_number) WHERE run_number > 1`,

    `CREATE TABLE ${names.ending} (
      run bigint PRIMARY KEY,
      completed_at bigint NOT NULL,
      output text,
      output_marks text,
      error text,
      reason text
    )`,

    // `is_open`: a wait of a run that has not ended.
    `CREATE TABLE ${names.step} (
      run bigint NOT NULL,
      step_index bigint NOT NULL,
      count bigint NOT NULL,
      depth bigint NOT NULL,
      created_at bigint NOT NULL,
      attempts bigint NOT NULL,
      starts bigint NOT NULL,
      max_attempts bigint,
      timeout_ms bigint,
      wake_at bigint,
      settled_index bigint,
      settled_at bigint,
      is_open smallint NOT NULL,
      key ${id} NOT NULL,
      name ${id} NOT NULL,
      type ${id} NOT NULL,
      status ${id} NOT NULL,
      parent_key ${id},
      event_type ${id},
      topic ${id},
      waits_for ${id},
      errors text,
      error text,
      result text,
      result_marks text,
      PRIMARY KEY (run, step_index)
    ) WITH (${busyTable})`,
    `CREATE INDEX step_open ON ${names.step} (run) WHERE is_open = 1`,
    `CREATE INDEX step_topic ON ${names.step} (topic, run, step_index) WHERE is_open = 1 AND topic IS NOT NULL`,

    `CREATE TABLE ${names.event} (
      run bigint NOT NULL,
      seq bigint NOT NULL,
      created_at bigint NOT NULL,
      delivered_at bigint,
      is_system smallint NOT NULL,
      id ${id} NOT NULL UNIQUE,
      type ${id},
      topic ${id},
      for_step ${id},
      consumed_by ${id},
      payload text NOT NULL,
      payload_marks text,
      PRIMARY KEY (run, seq)
    ) WITH (${busyTable})`,
    `CREATE INDEX event_undelivered ON ${names.event} (run, seq) WHERE delivered_at IS NULL`,

    `CREATE TABLE ${names.log} (
      run bigint NOT NULL,
      seq bigint NOT NULL,
      created_at bigint NOT NULL,
      attempt bigint,
      is_replay smallint NOT NULL,
      step_key ${id},
      level ${id} NOT NULL,
      category ${id} NOT NULL,
      message text NOT NULL,
      data text,
      data_marks text,
      PRIMARY KEY (run, seq)
    )`,

    // `runs`: JSON list of the runs it reached.
    `CREATE TABLE ${names.publication} (
      id ${id} PRIMARY KEY,
      seq bigint GENERATED ALWAYS AS IDENTITY,
      created_at bigint NOT NULL,
      waiters bigint NOT NULL,
      topic ${id} NOT NULL,
      runs text NOT NULL
    )`,
    `CREATE INDEX publication_age ON ${names.publication} (created_at)`,

    // What was decided under which id, so that a decision that is sent again is answered as it was then.
    `CREATE TABLE ${names.change} (
      instance bigint NOT NULL,
      id ${id} NOT NULL,
      outcome text NOT NULL,
      PRIMARY KEY (instance, id)
    )`,
  ];
}
