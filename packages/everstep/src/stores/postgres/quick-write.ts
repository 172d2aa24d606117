/**
 * Many commits and creations with one statement, committed by itself, that says in one row what it has applied. Texts
 * differ only in what a batch is made of, never in how much of it there is, so the server remembers their plans.
 */
import type { InstanceStatus } from "../../model/instance.ts";
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { ApplyQuickly, ExistingInstance, QuickAnswer, QuickBatch } from "../sql/write/quick-write.ts";
import { tableValues } from "./parameter-table.ts";
import {
  type CreateShape,
  commonValues,
  createColumns,
  createShape,
  createTexts,
  type NewInstance,
  newInstances,
} from "./quick-create.ts";
import { type FenceRow, type FenceShape, fenceColumns, fenceRows, fenceShape } from "./quick-fence.ts";
import { fenceTexts } from "./quick-fence-text.ts";
import {
  closedText,
  consumedColumns,
  consumedRows,
  consumedText,
  moreColumns,
  moreRows,
  moreText,
} from "./quick-more.ts";

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
  const { commits, creations, now } = batch;
  const shape = commits.length === 0 ? null : fenceShape(commits);
  const made = newInstances(creations);
  return {
    fence: shape === null ? null : { shape, rows: fenceRows(commits, shape, now) },
    creation: made.length === 0 ? null : { shape: createShape(made), rows: made },
    consumed: consumedRows(batch),
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
