/** The hot row of a run, whole: everything that decides whether a write about it is allowed, and nothing large. */
import type { InstanceStatus } from "../../model/instance.ts";
import type { TaskKind } from "../../model/task.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull } from "./row.ts";

export interface RunRow {
  readonly run: number;
  readonly instance: number;
  readonly workflow: string;
  readonly runNumber: number;
  readonly previousRun: number | null;
  /** The instance's, for the order of lists. */
  readonly createdAt: number;
  isCurrent: boolean;
  status: InstanceStatus;
  kind: TaskKind;
  /** See lane.ts; null when it wants no turn. */
  lane: number | null;
  /** Under a lease: its end. */
  dueAt: number;
  /** The last one. */
  owner: string | null;
  token: number;
  lastCommit: number;
  eventSeq: number;
  logSeq: number;
  crashCount: number;
  /** There is a history to read. */
  recorded: boolean;
  deadLetter: boolean;
  startedAt: number | null;
  waitingSince: number | null;
  pausedAt: number | null;
  updatedAt: number;
  pruneAt: number | null;
  /** JSON text. */
  begun: string | null;
}

/** What never changes. */
const fixedColumns = ["instance", "workflow", "run_number", "previous_run", "created_at"] as const;

/** In the order of `changingValues`. */
export const changingColumns = [
  "is_current",
  "status",
  "kind",
  "lane",
  "due_at",
  "owner",
  "token",
  "last_commit",
  "event_seq",
  "log_seq",
  "crash_count",
  "recorded",
  "dead_letter",
  "started_at",
  "waiting_since",
  "paused_at",
  "updated_at",
  "prune_at",
  "begun",
] as const;

/** In the order of `runValues`. */
export const runColumns = ["id", ...fixedColumns, ...changingColumns] as const;

/** Selects what `readRun` reads, of the table with the alias r. */
export const runSelection: string = runColumns
  .map((column) => (column === "id" ? "r.id AS run" : `r.${column}`))
  .join(", ");

export function changingValues(row: RunRow): SqlValue[] {
  return [
    row.isCurrent ? 1 : 0,
    row.status,
    row.kind,
    row.lane,
    row.dueAt,
    row.owner,
    row.token,
    row.lastCommit,
    row.eventSeq,
    row.logSeq,
    row.crashCount,
    row.recorded ? 1 : 0,
    row.deadLetter ? 1 : 0,
    row.startedAt,
    row.waitingSince,
    row.pausedAt,
    row.updatedAt,
    row.pruneAt,
    row.begun,
  ];
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
    begun: textOrNull(row, "begun"),
  };
}
