/**
 * Every table and column of the SQL stores, said once: schemas, rows and parameters follow from it. Times are epoch
 * milliseconds, flags are 0 and 1, texts compare byte by byte. A column that comes later stands in `additions` too; released
 * migrations stay what they were (tests/golden/migrations.test.ts).
 */

/** What a database makes of a column. Everything is a 64-bit integer or a text; the kinds of text differ in length. */
export type Kind =
  | "integer"
  | "small"
  /** A name of a workflow, of an instance, any other, or an id; they stand in indexes. */
  | "workflow"
  | "instance"
  | "name"
  | "id"
  /** The key of a step, as long as it wants to be. */
  | "key"
  /** One of a closed set. */
  | "word"
  | "payload";

export interface Column {
  readonly kind: Kind;
  readonly isNullable?: true;
  readonly isCount?: true;
}

const integer: Column = { kind: "integer" };
const small: Column = { kind: "small" };
const count: Column = { kind: "integer", isCount: true };
const workflow: Column = { kind: "workflow" };
const instance: Column = { kind: "instance" };
const name: Column = { kind: "name" };
const id: Column = { kind: "id" };
const key: Column = { kind: "key" };
const word: Column = { kind: "word" };
const payload: Column = { kind: "payload" };

const orNull = (column: Column): Column => ({ ...column, isNullable: true });

/** Large columns come last, so that reading the others touches fewer pages. */
export const columnsOf = {
  meta: { name, value: integer },
  /** `id` is the id of the first run; `run` the current one. */
  instance: {
    id: integer,
    workflow,
    instance_id: instance,
    run: integer,
    created_at: integer,
    deadline_at: orNull(integer),
    retention_ms: orNull(integer),
    parent_workflow: orNull(workflow),
    parent_instance: orNull(instance),
    params: payload,
    params_marks: orNull(payload),
  },
  /**
   * `due_at` doubles as the end of the lease, `owner` is the last one, `recorded` is 0 until there is a history,
   * `created_at` is the instance's, for the order of lists.
   */
  run: {
    id: integer,
    instance: integer,
    workflow,
    run_number: integer,
    previous_run: orNull(integer),
    is_current: small,
    status: word,
    kind: word,
    lane: orNull(small),
    due_at: integer,
    owner: orNull(name),
    token: integer,
    last_commit: count,
    event_seq: count,
    log_seq: count,
    crash_count: count,
    recorded: small,
    dead_letter: { kind: "small", isCount: true },
    created_at: integer,
    started_at: orNull(integer),
    waiting_since: orNull(integer),
    paused_at: orNull(integer),
    updated_at: integer,
    prune_at: orNull(integer),
    begun: orNull(payload),
  },
  ending: {
    run: integer,
    completed_at: integer,
    output: orNull(payload),
    output_marks: orNull(payload),
    error: orNull(payload),
    reason: orNull(payload),
  },
  /** `is_open`: a wait of a run that has not ended. */
  step: {
    run: integer,
    step_index: integer,
    key,
    name: key,
    count: integer,
    type: word,
    status: word,
    is_open: small,
    parent_key: orNull(key),
    depth: integer,
    created_at: integer,
    attempts: integer,
    starts: integer,
    max_attempts: orNull(integer),
    timeout_ms: orNull(integer),
    event_type: orNull(name),
    topic: orNull(name),
    waits_for: orNull(word),
    wake_at: orNull(integer),
    settled_index: orNull(integer),
    settled_at: orNull(integer),
    errors: orNull(payload),
    error: orNull(payload),
    result: orNull(payload),
    result_marks: orNull(payload),
  },
  /** `id` is its key; see event-row.ts. */
  event: {
    run: integer,
    seq: integer,
    id,
    type: orNull(name),
    topic: orNull(name),
    for_step: orNull(key),
    is_system: small,
    created_at: integer,
    delivered_at: orNull(integer),
    consumed_by: orNull(key),
    payload,
    payload_marks: orNull(payload),
  },
  log: {
    run: integer,
    seq: integer,
    step_key: orNull(key),
    attempt: orNull(integer),
    level: word,
    category: name,
    message: payload,
    is_replay: small,
    created_at: integer,
    data: orNull(payload),
    data_marks: orNull(payload),
  },
  /** `runs`: JSON list of the runs it reached. */
  publication: { id, topic: name, created_at: integer, waiters: integer, runs: payload },
  /** `outcome`: JSON of the answer that was given, so that a change that is sent again is answered as it was then. */
  change: { instance: integer, id: name, outcome: payload },
  /** `workflows`: JSON list of names. */
  runner: {
    owner: name,
    host: orNull(payload),
    pid: orNull(integer),
    started_at: integer,
    seen_at: integer,
    stopped_at: orNull(integer),
    concurrency: integer,
    turns: integer,
    workflows: payload,
  },
  /** `minute`: when it began. */
  tally: {
    minute: integer,
    workflow,
    complete: integer,
    errored: integer,
    terminated: integer,
    steps: integer,
    failed_attempts: integer,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Column>>>>;

export type Table = keyof typeof columnsOf;

export interface Addition {
  readonly table: Table;
  /** They may be null: rows that were there before have nothing in them. */
  readonly columns: readonly string[];
}

/** Columns that came after their tables, oldest first. Each addition is a migration of every dialect. */
export const additions: readonly Addition[] = [];

export type ColumnName<Name extends Table> = keyof (typeof columnsOf)[Name];

export const primaryKeys: Readonly<Record<Table, readonly string[]>> = {
  meta: ["name"],
  instance: ["id"],
  run: ["id"],
  ending: ["run"],
  step: ["run", "step_index"],
  event: ["run", "seq"],
  log: ["run", "seq"],
  publication: ["id"],
  change: ["instance", "id"],
  runner: ["owner"],
  tally: ["minute", "workflow"],
};

export const tables: readonly Table[] = Object.keys(columnsOf) as Table[];

/** In the order of the table. */
export function columnNames<Name extends Table>(table: Name): readonly ColumnName<Name>[] {
  return Object.keys(columnsOf[table]) as ColumnName<Name>[];
}

/** Names as they are written in statements: qualified, and quoted where that is needed. */
export type TableNames = Readonly<Record<Table, string>>;

export type ColumnType = "integer" | "text";

/** Only in tables of parameters. */
const otherIntegers = ["buffer_max", "until", "place"];

/** A column has the same type in every table, so its name is enough to know it; but for `id` and `value`. */
const integers: ReadonlySet<string> = new Set([
  ...tables.flatMap((table) =>
    Object.entries<Column>(columnsOf[table]).flatMap(([name, { kind }]) => (isInteger(kind) ? [name] : [])),
  ),
  ...otherIntegers,
]);

/** `id` is a number in the tables `instance` and `run`, a text in the others. */
export function columnType(column: string, table?: Table): ColumnType {
  if (column === "id") return table === "instance" || table === "run" ? "integer" : "text";
  if (column === "value") return table === "meta" ? "integer" : "text";
  return integers.has(column) ? "integer" : "text";
}

function isInteger(kind: Kind): boolean {
  return kind === "integer" || kind === "small";
}
