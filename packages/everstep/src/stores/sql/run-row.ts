/** The hot row of a run as columns. */
import type { InstanceStatus } from "../../model/instance.ts";
import type { TaskKind } from "../../model/task.ts";
import type { Begun, RunRow } from "../../store/apply/run-row.ts";
import { begunText } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull } from "./row.ts";

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
    begunColumn(row.begun),
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
    begun: readBegunColumn(textOrNull(row, "begun")),
  };
}

function begunColumn(begun: Begun): string | null {
  return "unread" in begun ? begun.unread : begunText(begun);
}

function readBegunColumn(text: string | null): Begun {
  return text === null ? [] : { unread: text };
}
