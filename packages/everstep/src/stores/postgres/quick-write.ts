/**
 * Many commits and creations with one statement, committed by itself, that says in one row what it has applied. Texts
 * differ only in what a batch is made of, never in how much of it there is, so the server remembers their plans.
 */
import type { InstanceStatus } from "../../model/instance.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { SendEventOutcome, SendEventRequest } from "../../store/store.ts";
import { sentKeyText } from "../sql/rows/event-row.ts";
import { instanceColumns } from "../sql/rows/instance-row.ts";
import { flag, integer, type SqlRow, type SqlValue, text } from "../sql/rows/row.ts";
import { runColumns, runValues } from "../sql/rows/run-row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import { type NewInstance, newInstances, takenEvents } from "../sql/write/quick-rows.ts";
import { canBeWoken, type SendQuickly } from "../sql/write/quick-send.ts";
import type { ApplyQuickly, ExistingInstance, QuickAnswer, QuickBatch } from "../sql/write/quick-write.ts";
import {
  closedText,
  consumedColumns,
  consumedText,
  type FenceRow,
  type FenceShape,
  fenceColumns,
  fenceRows,
  fenceShape,
  fenceTexts,
  moreColumns,
  moreRows,
  moreText,
} from "./quick-commit.ts";
import { type Column, column, columnsAt, sameKey, tableText, tableValues } from "./statements.ts";

export function quickWrites(names: TableNames): ApplyQuickly {
  const texts = new Map<string, string>();
  return async (database, batch) => {
    const pieces = piecesOf(batch);
    const key = keyOf(pieces);
    let sql = texts.get(key);
    if (sql === undefined) {
      sql = statementText(names, pieces);
      texts.set(key, sql);
    }
    const statement = { sql, values: valuesOf(pieces, batch.now), isPlannedOnce: true };
    const [result] = await database.run([statement]);
    return readAnswer(result?.rows[0] ?? {});
  };
}

/** What a batch is made of. */
interface Pieces {
  readonly fence: { readonly shape: FenceShape; readonly rows: readonly FenceRow[] } | null;
  readonly creation: { readonly shape: CreateShape; readonly rows: readonly NewInstance[] } | null;
  readonly consumed: readonly (readonly SqlValue[])[];
  readonly more: readonly (readonly SqlValue[])[];
}

function piecesOf(batch: QuickBatch): Pieces {
  const { commits, now } = batch;
  const shape = commits.length === 0 ? null : fenceShape(commits);
  const made = newInstances(batch);
  return {
    fence: shape === null ? null : { shape, rows: fenceRows(commits, shape, now) },
    creation: made.length === 0 ? null : { shape: createShape(made), rows: made },
    consumed: takenEvents(batch),
    more: moreRows(batch),
  };
}

/** Two batches with the same key have the same text. */
function keyOf({ fence, creation, consumed, more }: Pieces): string {
  const fenced = fence === null ? "" : Object.values(fence.shape).join();
  const created = creation === null ? "" : Object.values(creation.shape).join();
  return [fenced, created, fewOrMany(consumed), fewOrMany(more)].join(";");
}

function fewOrMany(rows: readonly unknown[]): number {
  return Math.min(rows.length, 2);
}

/** In the order of `valuesOf`. */
function statementText(names: TableNames, { fence, creation, consumed, more }: Pieces): string {
  const parts: (readonly [string, string])[] = [];
  let next = 1;
  const take = (count: number): number => {
    next += count;
    return next - count;
  };
  const has = { commits: fence !== null, creations: creation !== null };
  if (fence !== null) {
    const now = `$${take(1)}`;
    parts.push(...fenceTexts(names, fence.shape, now, take(fenceColumns(fence.shape).length)));
    if (consumed.length > 0) {
      parts.push(["consumed", consumedText(names, consumed.length > 1, now, take(consumedColumns.length))]);
    }
  }
  if (creation !== null) {
    const { shape, rows } = creation;
    const count = createColumns(shape).length + (shape.isAlike ? commonValues(rows).length : 0);
    parts.push(...createTexts(names, shape, take(count)));
  }
  const first = take(0);
  if (more.length > 0) parts.push(["more", moreText(names, more.length > 1, first, has)]);
  if (fence?.shape.ends) {
    const others = more.length === 0 ? null : { isMany: more.length > 1, first };
    parts.push(["closed", closedText(names, fence.shape.steps !== "none", others)]);
  }
  const expressions = parts.map(([name, sql]) => `${name} AS (${sql})`);
  return `WITH ${expressions.join(", ")} SELECT ${answerText(has)}`;
}

function valuesOf({ fence, creation, consumed, more }: Pieces, now: number): readonly unknown[] {
  const values: unknown[] = [];
  if (fence !== null) {
    const { shape, rows } = fence;
    values.push(now, ...tableValues(fenceColumns(shape), rows, shape.isMany));
    if (consumed.length > 0) values.push(...tableValues(consumedColumns, consumed, consumed.length > 1));
  }
  if (creation !== null) {
    const { shape, rows } = creation;
    if (shape.isAlike) values.push(...commonValues(rows));
    values.push(...tableValues(createColumns(shape), rows, shape.isMany));
  }
  if (more.length > 0) values.push(...tableValues(moreColumns, more, more.length > 1));
  return values;
}

/** One row, whatever the size of the batch: lists of numbers with a comma between their entries. */
function answerText(has: { readonly commits: boolean; readonly creations: boolean }): string {
  const known = "k.id || ' ' || k.run || ' ' || k.run_number || ' ' || k.status";
  return [
    ...(has.commits
      ? ["(SELECT string_agg(f.id || ' ' || f.event_seq, ',') FROM fenced f) AS committed"]
      : []),
    ...(has.creations
      ? [
          "(SELECT string_agg(m.id::text, ',') FROM made m) AS created",
          `(SELECT string_agg(${known}, ',') FROM known k) AS existing`,
        ]
      : []),
  ].join(", ");
}

function readAnswer(row: SqlRow): QuickAnswer {
  const committed = new Map<number, number>();
  const created = new Set<number>();
  const existing = new Map<number, ExistingInstance>();
  for (const [run, eventSeq] of entries(row.committed)) committed.set(Number(run), Number(eventSeq));
  for (const [id] of entries(row.created)) created.add(Number(id));
  for (const [id, run, runNumber, status] of entries(row.existing)) {
    const there = { run: Number(run), runNumber: Number(runNumber), status: status as InstanceStatus };
    existing.set(Number(id), there);
  }
  return { committed, created, existing };
}

function entries(list: unknown): readonly (readonly string[])[] {
  return typeof list === "string" ? list.split(",").map((entry) => entry.split(" ")) : [];
}

/**
 * Creations. A name that is taken is left alone, and only what was made gets a run. Mostly the first runs of a batch are
 * all in the same state, which is then said once; what differs is the instance's own.
 */
interface CreateShape {
  readonly isMany: boolean;
  /** All first runs are in the same state, whenever they are due, and no instance has a parent. */
  readonly isAlike: boolean;
}

const parentAt = instanceColumns.indexOf("parent_workflow");

function createShape(instances: readonly NewInstance[]): CreateShape {
  const [first] = instances;
  return {
    isMany: instances.length > 1,
    isAlike: instances.every(
      ({ row, values }) => values[parentAt] === null && isAlike(row, (first as NewInstance).row),
    ),
  };
}

function isAlike(a: RunRow, b: RunRow): boolean {
  return (
    a.owner === b.owner &&
    a.lane === b.lane &&
    a.kind === b.kind &&
    a.startedAt === b.startedAt &&
    a.recorded === b.recorded
  );
}

/** What is said once for all runs that are alike, in this order. */
const common: readonly Column<RunRow>[] = [
  column("owner", ({ owner }) => owner),
  column("lane", ({ lane }) => lane),
  column("kind", ({ kind }) => kind),
  column("started_at", ({ startedAt }) => startedAt),
  column("recorded", ({ recorded }) => (recorded ? 1 : 0)),
  column("updated_at", ({ updatedAt }) => updatedAt),
];

function commonValues([first]: readonly NewInstance[]): readonly unknown[] {
  return first === undefined ? [] : common.map(({ of }) => of(first.row));
}

const instanceParameters: readonly Column<NewInstance>[] = columnsAt(instanceColumns, "instance").map(
  (each) => ({
    ...each,
    of: ({ values }) => each.of(values),
  }),
);

const runParameters: readonly Column<NewInstance>[] = columnsAt(runColumns, "run").map((each) => ({
  ...each,
  name: `run_${each.name}`,
  of: ({ row }) => each.of(runValues(row)),
}));

/** Of runs that are alike nearly all is said in the instances' columns and the common ones. */
function createColumns({ isAlike }: CreateShape): readonly Column<NewInstance>[] {
  return isAlike ? alikeParameters : eachParameters;
}

const derived: ReadonlySet<string> = new Set(["run", "parent_workflow", "parent_instance"]);
const alikeParameters: readonly Column<NewInstance>[] = [
  ...instanceParameters.filter(({ name }) => !derived.has(name)),
  column("due_at", ({ row }) => row.dueAt),
  column("token", ({ row }) => row.token),
];
const eachParameters: readonly Column<NewInstance>[] = [...instanceParameters, ...runParameters];

/** What every first run has. */
const firstRun = {
  run_number: "1",
  is_current: "1",
  status: "'active'",
  last_commit: "0",
  event_seq: "0",
  log_seq: "0",
  crash_count: "0",
  dead_letter: "0",
};

/** The expressions, by name; `first` is the number of the first parameter: common values first, then the columns. */
function createTexts(
  names: TableNames,
  shape: CreateShape,
  first: number,
): readonly (readonly [string, string])[] {
  const { isAlike, isMany } = shape;
  const offset = first + (isAlike ? common.length : 0);
  const given = (...only: readonly string[]): string =>
    tableText("v", createColumns(shape), isMany, offset, only);
  const columns = instanceColumns.filter((name) => !isAlike || !derived.has(name));
  return [
    [
      "made",
      `INSERT INTO ${names.instance} (${isAlike ? "run, " : ""}${columns.join(", ")})
        SELECT ${isAlike ? "v.id, " : ""}${columns.map((name) => `v.${name}`).join(", ")} FROM ${given(...columns)}
        ON CONFLICT (workflow, instance_id) DO NOTHING RETURNING id`,
    ],
    [
      "begun_runs",
      `${isAlike ? alikeText(names, given, first) : eachText(names, given)} WHERE ${isMade} IS TRUE`,
    ],
    // Only for names that were taken; the statement sees everything as it was before.
    [
      "known",
      `SELECT v.id, r.id AS run, r.run_number, r.status FROM ${given("id", "workflow", "instance_id")}
        JOIN ${names.instance} i ON ${sameKey("i.workflow", "v.workflow", isMany)} AND i.instance_id = v.instance_id
        JOIN ${names.run} r ON ${sameKey("r.id", "i.run", isMany)} WHERE ${isMade} IS NOT TRUE`,
    ],
  ];
}

const isMade = "(v.id IN (SELECT m.id FROM made m))";

type Given = (...only: readonly string[]) => string;

function alikeText(names: TableNames, given: Given, first: number): string {
  const own = ["workflow", "created_at", "due_at", "token"];
  const said = common.map(
    ({ name, isText }, n) => [name, `$${first + n}::${isText ? "text" : "bigint"}`] as const,
  );
  const facts = [...Object.entries(firstRun), ...said];
  return `INSERT INTO ${names.run} (id, instance, ${[...own, ...facts.map(([name]) => name)].join(", ")})
    SELECT v.id, v.id, ${[...own.map((name) => `v.${name}`), ...facts.map(([, value]) => value)].join(", ")}
    FROM ${given("id", ...own)}`;
}

function eachText(names: TableNames, given: Given): string {
  const own = runColumns.map((name) => `run_${name}`);
  return `INSERT INTO ${names.run} (${runColumns.join(", ")})
    SELECT ${own.map((name) => `v.${name}`).join(", ")} FROM ${given("id", ...own)}`;
}

/**
 * Events with one statement, committed by itself. What decides is read as it was when the statement began; the run's row
 * moves with everything that could change it, so it is written only while it is still the one that was read. Whoever
 * was faster (a turn that suspends, another event) leaves the request to the long way.
 */
export function quickSends(names: TableNames): SendQuickly {
  const one = sendText(names, false);
  const many = sendText(names, true);
  return async (database, requests, now) => {
    const rows = requests.map((request, place): Sent => ({ request, place }));
    const isMany = rows.length > 1;
    const values = [now, ...tableValues(columns, rows, isMany)];
    const [result] = await database.run([{ sql: isMany ? many : one, values, isPlannedOnce: true }]);
    const accepted = new Map(result?.rows.map((row) => [integer(row, "place"), outcomeOf(row)]));
    return requests.map((_request, place) => accepted.get(place) ?? null);
  };
}

interface Sent {
  readonly request: SendEventRequest;
  readonly place: number;
}

const columns: readonly Column<Sent>[] = [
  column("place", ({ place }) => place),
  column("workflow", ({ request }) => request.workflowName),
  column("instance_id", ({ request }) => request.instanceId),
  column("buffer_max", ({ request }) => request.bufferMax),
  column("id", ({ request }) => request.id),
  column("type", ({ request }) => request.type),
  column("for_step", ({ request }) => request.forStep),
  column("is_system", ({ request }) => (request.system ? 1 : 0)),
  column("created_at", ({ request }) => request.createdAt),
  column("payload", ({ request }) => request.payload.json),
  column("payload_marks", ({ request }) => request.payload.marks),
];

const kept = ["id", "type", "for_step", "is_system", "created_at", "payload", "payload_marks"];

function outcomeOf(row: SqlRow): SendEventOutcome {
  const status = text(row, "status") as InstanceStatus;
  const woke = flag(row, "is_awaited");
  return { kind: "accepted", runId: integer(row, "run"), status, duplicate: false, woke };
}

/** Subqueries that give a value, never more than that, are looked up row by row whatever the tables hold. */
function sendText(names: TableNames, isMany: boolean): string {
  const sent = sentKeyText("i.id", "v.id");
  const carried = kept.map((name) => `${name === "id" ? sent : `v.${name}`} AS event_${name}`).join(", ");
  const lands = `CASE WHEN s.is_awaited THEN`;
  return `
    WITH seen AS MATERIALIZED (
      SELECT v.place, r.id, r.xmin AS version, ${carried},
        ${canBeWoken} AND (
          SELECT 1 FROM ${names.step} w WHERE w.run = r.id AND w.is_open = 1 AND w.wake_at >= v.created_at
            AND CASE WHEN v.for_step IS NULL THEN w.event_type = v.type ELSE w.key = v.for_step END LIMIT 1
        ) IS NOT NULL AS is_awaited
      FROM ${tableText("v", columns, isMany, 2)}
      JOIN ${names.instance} i ON ${sameKey("i.workflow", "v.workflow", isMany)} AND i.instance_id = v.instance_id
      JOIN ${names.run} r ON ${sameKey("r.id", "i.run", isMany)}
      WHERE r.status IN ('active', 'waiting', 'paused') AND (v.is_system = 1 OR r.event_seq < v.buffer_max)
        AND (SELECT 1 FROM ${names.event} e WHERE e.id = ${sent}) IS NULL
        AND (SELECT (SELECT o.instance FROM ${names.run} o WHERE o.id = e.run) FROM ${names.event} e WHERE e.id = v.id)
          IS DISTINCT FROM i.id
      ORDER BY r.id
    ),
    moved AS (
      UPDATE ${names.run} AS r SET event_seq = r.event_seq + 1, kind = ${lands} 'wake' ELSE r.kind END,
        lane = ${lands} ${lanes.resuming} ELSE r.lane END, due_at = ${lands} least(r.due_at, $1::bigint) ELSE r.due_at END
      FROM seen s WHERE ${sameKey("r.id", "s.id", true)} AND r.xmin = s.version
      RETURNING r.id AS run, r.event_seq AS seq, r.status, s.*
    ),
    sent AS (
      INSERT INTO ${names.event} (run, seq, ${kept.join(", ")})
      SELECT m.run, m.seq, ${kept.map((name) => `m.event_${name}`).join(", ")} FROM moved m
    )
    SELECT m.place, m.run, m.status, m.is_awaited FROM moved m`;
}
