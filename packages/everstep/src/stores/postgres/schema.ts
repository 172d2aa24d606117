/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload and leaves room on its page, so
 * that most updates need no new index entry; an index holds only the rows somebody looks for, so that finished runs cost
 * nothing. Ids, names and keys compare byte by byte.
 */
import type { Migration } from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, type TableText, withAdditions } from "../sql/schema/schema-text.ts";
import type { Table, TableNames } from "../sql/schema/table.ts";

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
