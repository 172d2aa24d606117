import type { CompletedStep, StepRecord, StepStatus, StepType, WaitsFor } from "../../../model/step.ts";
import { unreadValue } from "../../../store/unread-value.ts";
import { columnNames } from "../schema/table.ts";
import { attemptErrorsText, readAttemptErrors, readStoredError, readValue } from "./json-column.ts";
import { integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull, word } from "./row.ts";

/** In the order of `stepValues`. Large columns come last, so that reading the others touches fewer pages. */
export const stepColumns = columnNames("step");

/** Without results, which may be large; a step that has one still shows that it has. */
export function briefStepsOf(alias: string, table: string): string {
  const columns = stepColumns.map((column) =>
    column === "result"
      ? `CASE WHEN ${alias}.result IS NULL THEN NULL ELSE '${unreadValue.json}' END AS result`
      : `${alias}.${column}`,
  );
  return `SELECT ${columns.join(", ")} FROM ${table} ${alias}`;
}

const types: readonly StepType[] = ["do", "sleep", "waitForEvent"];
const statuses: readonly StepStatus[] = ["completed", "waiting", "errored"];
const waits: readonly WaitsFor[] = ["timer", "retry", "event"];

export function stepValues(run: number, step: StepRecord): SqlValue[] {
  const waiting = step.status === "waiting";
  const result = step.status === "completed" ? step.result : null;
  return [
    run,
    step.index,
    step.key,
    step.name,
    step.count,
    step.type,
    step.status,
    waiting ? 1 : 0,
    step.parentKey,
    step.depth,
    step.createdAt,
    step.attempts,
    step.starts,
    step.maxAttempts,
    step.timeoutMs,
    step.eventType,
    step.topic,
    waiting ? step.waitsFor : null,
    step.wakeAt,
    waiting ? null : step.settledIndex,
    waiting ? null : step.settledAt,
    attemptErrorsText(step.errors),
    step.status === "errored" ? JSON.stringify(step.error) : null,
    result === null ? null : result.json,
    result === null ? null : result.marks,
  ];
}

export function readStep(row: SqlRow): StepRecord {
  const facts = {
    index: integer(row, "step_index"),
    key: text(row, "key"),
    name: text(row, "name"),
    count: integer(row, "count"),
    type: word(row, "type", types),
    parentKey: textOrNull(row, "parent_key"),
    depth: integer(row, "depth"),
    createdAt: integer(row, "created_at"),
    attempts: integer(row, "attempts"),
    starts: integer(row, "starts"),
    maxAttempts: integerOrNull(row, "max_attempts"),
    timeoutMs: integerOrNull(row, "timeout_ms"),
    errors: readAttemptErrors(row, "errors"),
    eventType: textOrNull(row, "event_type"),
    topic: textOrNull(row, "topic"),
  };
  const status = word(row, "status", statuses);
  if (status === "waiting") {
    return { ...facts, status, waitsFor: word(row, "waits_for", waits), wakeAt: integer(row, "wake_at") };
  }
  const settled = {
    ...facts,
    wakeAt: integerOrNull(row, "wake_at"),
    settledIndex: integer(row, "settled_index"),
    settledAt: integer(row, "settled_at"),
  };
  return status === "completed"
    ? { ...settled, status, result: readValue(row, "result") }
    : { ...settled, status, error: readStoredError(row, "error") };
}

/** Succeeded at once, at the top level and under a name of its own: nearly all steps are such, and little has to be said of them. */
export function isPlainStep(step: StepRecord): step is CompletedStep {
  return (
    step.status === "completed" &&
    step.type === "do" &&
    step.attempts === 1 &&
    step.starts === 1 &&
    step.count === 1 &&
    step.depth === 0 &&
    step.parentKey === null &&
    step.wakeAt === null &&
    step.eventType === null &&
    step.topic === null &&
    step.errors.length === 0
  );
}
