/** The hot row of a run as columns. */
import type { InstanceStatus } from "../../../model/instance.ts";
import type { TaskKind } from "../../../model/task.ts";
import type { Begun, RunRow } from "../../../store/apply/run-row.ts";
import type { ColumnName } from "../schema/table.ts";
import { begunText } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull } from "./row.ts";

/** What never changes. */
const fixedColumns = ["instance", "workflow", "run_number", "previous_run", "created_at"] as const;

type Changing = Exclude<
  keyof RunRow,
  "run" | "instance" | "workflow" | "runNumber" | "previousRun" | "createdAt"
>;

const columnOf = {
  isCurrent: "is_current",
  status: "status",
  kind: "kind",
  lane: "lane",
  dueAt: "due_at",
  owner: "owner",
  token: "token",
  lastCommit: "last_commit",
  eventSeq: "event_seq",
  logSeq: "log_seq",
  crashCount: "crash_count",
  recorded: "recorded",
  deadLetter: "dead_letter",
  startedAt: "started_at",
  waitingSince: "waiting_since",
  pausedAt: "paused_at",
  updatedAt: "updated_at",
  pruneAt: "prune_at",
  begun: "begun",
} as const satisfies Readonly<Record<Changing, ColumnName<"run">>>;

const changingFields = Object.keys(columnOf) as readonly Changing[];

/** In the order of `changingValues`. */
export const changingColumns: readonly string[] = Object.values(columnOf);

/** What becomes of a row, or part of it (store/apply/moves.ts). */
export type Move = Partial<Pick<RunRow, Changing>>;

/** The columns that a move changes, in the order of `moveValues`. */
export function moveColumns(move: Move): readonly string[] {
  return Object.keys(move).map((field) => columnOf[field as Changing]);
}

export function moveValues(move: Move): SqlValue[] {
  const values: SqlValue[] = [];
  for (const value of Object.values(move)) values.push(columnValue(value));
  return values;
}

function columnValue(value: RunRow[Changing]): SqlValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" && value !== null ? begunColumn(value) : value;
}

/** In the order of `runValues`. */
export const runColumns: readonly string[] = ["id", ...fixedColumns, ...changingColumns];

/** Selects what `readRun` reads, of the table with the alias r. */
export const runSelection: string = runColumns
  .map((column) => (column === "id" ? "r.id AS run" : `r.${column}`))
  .join(", ");

export function changingValues(row: RunRow): SqlValue[] {
  return changingFields.map((field) => columnValue(row[field]));
}

/** One of them, by its place in `changingColumns`. */
export function changingValue(row: RunRow, n: number): SqlValue {
  return columnValue(row[changingFields[n] as Changing]);
}

export function runValues(row: RunRow): SqlValue[] {
  const fixed = [row.run, row.instance, row.workflow, row.runNumber, row.previousRun, row.createdAt];
  return [...fixed, ...changingValues(row)];
}

/** Words are taken as they are: a damaged row must not keep the others of its batch from being written. */
export function readRun(row: SqlRow): RunRow {
  return {
    run: integer(row, "run"),
    instance: integer(row, "instance"),
    workflow: text(row, "workflow"),
    runNumber: integer(row, "run_number"),
    previousRun: integerOrNull(row, "previous_run"),
    createdAt: integer(row, "created_at"),
    isCurrent: flag(row, "is_current"),
    status: text(row, "status") as InstanceStatus,
    kind: text(row, "kind") as TaskKind,
    lane: integerOrNull(row, "lane"),
    dueAt: integer(row, "due_at"),
    owner: textOrNull(row, "owner"),
    token: integer(row, "token"),
    lastCommit: integer(row, "last_commit"),
    eventSeq: integer(row, "event_seq"),
    logSeq: integer(row, "log_seq"),
    crashCount: integer(row, "crash_count"),
    recorded: flag(row, "recorded"),
    deadLetter: flag(row, "dead_letter"),
    startedAt: integerOrNull(row, "started_at"),
    waitingSince: integerOrNull(row, "waiting_since"),
    pausedAt: integerOrNull(row, "paused_at"),
    updatedAt: integer(row, "updated_at"),
    pruneAt: integerOrNull(row, "prune_at"),
    begun: readBegunColumn(textOrNull(row, "begun")),
  };
}

function begunColumn(begun: Begun): string | null {
  return "unread" in begun ? begun.unread : begunText(begun);
}

/** Not looked into: most who write a row leave it as it is. */
export function readBegunColumn(text: string | null): Begun {
  return text === null ? nothing : { unread: text };
}

const nothing: Begun = [];
