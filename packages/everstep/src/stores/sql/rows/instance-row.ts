import { type InstanceRecord, type InstanceStatus, instanceStatuses } from "../../../model/instance.ts";
import type { StoredError } from "../../../model/value.ts";
import { isLeased } from "../../../store/apply/lane.ts";
import type { CreateRequest } from "../../../store/store.ts";
import { unreadValue } from "../../../store/unread-value.ts";
import { columnNames } from "../schema/table.ts";
import { readBegun, readReason, readStoredError, readValue, readValueOrNull } from "./json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull, word } from "./row.ts";

/** In the order of `instanceValues`. */
export const instanceColumns = columnNames("instance");

export function instanceValues(id: number, run: number, request: CreateRequest): SqlValue[] {
  const { parent, params } = request;
  return [
    id,
    request.workflowName,
    request.instanceId,
    run,
    request.createdAt,
    request.deadlineAt,
    request.retentionMs,
    parent === null ? null : parent.workflowName,
    parent === null ? null : parent.instanceId,
    params.json,
    params.marks,
  ];
}

const facts = [
  ...["i.workflow", "i.instance_id", "i.created_at", "i.deadline_at", "i.retention_ms", "i.parent_workflow"],
  ...[
    "i.parent_instance",
    "r.id AS run",
    "r.instance",
    "r.run_number",
    "r.status",
    "r.token",
    "r.lane",
    "r.due_at",
  ],
  ...["r.crash_count", "r.begun", "r.dead_letter", "r.started_at", "r.paused_at", "r.updated_at"],
  ...["e.completed_at", "e.error", "e.reason"],
];

/** Of an instance (i) joined with one of its runs (r) and, where there is one, that run's ending (e). */
export const instanceSelection: readonly string[] = [
  ...facts,
  ...["i.params", "i.params_marks", "e.output", "e.output_marks"],
];

/** The same without values, which may be large. */
export const briefInstanceSelection: readonly string[] = [
  ...facts,
  ...[`'${unreadValue.json}' AS params`, "NULL AS params_marks", "NULL AS output", "NULL AS output_marks"],
];

export function readInstance(row: SqlRow): InstanceRecord {
  const lane = integerOrNull(row, "lane");
  const completedAt = integerOrNull(row, "completed_at");
  const retentionMs = integerOrNull(row, "retention_ms");
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    runId: integer(row, "run"),
    runNumber: integer(row, "run_number"),
    status: readStatus(row),
    params: readValue(row, "params"),
    output: readValueOrNull(row, "output"),
    error: readError(row),
    terminationReason: orElse(() => readReason(row, "reason"), null),
    deadLetter: flag(row, "dead_letter"),
    createdAt: integer(row, "created_at"),
    startedAt: integerOrNull(row, "started_at"),
    updatedAt: integer(row, "updated_at"),
    completedAt,
    pausedAt: integerOrNull(row, "paused_at"),
    deadlineAt: integerOrNull(row, "deadline_at"),
    retentionMs,
    retentionUntil: completedAt === null || retentionMs === null ? null : completedAt + retentionMs,
    parent: readParent(row),
    executing: isLeased(lane),
    dueAt: lane === null ? null : integer(row, "due_at"),
    crashCount: integer(row, "crash_count"),
    token: integer(row, "token"),
    begun: orElse(() => readBegun(row, "begun"), []),
  };
}

/** Details that are damaged are left out, so that the instance can still be looked at, terminated and removed. */
function orElse<Value>(read: () => Value, fallback: Value): Value {
  try {
    return read();
  } catch {
    return fallback;
  }
}

function readError(row: SqlRow): StoredError | null {
  if (row.error === null) return null;
  return orElse(() => readStoredError(row, "error"), {
    name: "EverstepError",
    code: "HISTORY_UNREADABLE",
    message: "The stored error cannot be read.",
  });
}

/** Every write that anybody can see moves one of them. */
export const markColumns = [
  "r.id",
  "r.status",
  "r.token",
  "r.last_commit",
  "r.event_seq",
  "r.log_seq",
  "r.due_at",
  "r.lane",
  "r.updated_at",
] as const;

export function readMark(row: SqlRow): string {
  return markColumns.map((column) => String(row[column.slice(2)])).join(" ");
}

export function readStatus(row: SqlRow): InstanceStatus {
  return word(row, "status", instanceStatuses);
}

function readParent(row: SqlRow): InstanceRecord["parent"] {
  const workflowName = textOrNull(row, "parent_workflow");
  return workflowName === null ? null : { workflowName, instanceId: text(row, "parent_instance") };
}
