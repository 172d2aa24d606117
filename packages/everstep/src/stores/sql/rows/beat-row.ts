/** Runners and tallies as rows. */
import { parseJson } from "../../../model/json.ts";
import type { MinuteTally, RunnerRecord, Tally } from "../../../store/store.ts";
import { columnNames, primaryKeys } from "../schema/table.ts";
import { integer, integerOrNull, type SqlRow, type SqlValue, text, textOrNull, unreadable } from "./row.ts";

/** The key first. */
export const runnerColumns = columnNames("runner");

/** The others are counts. */
export const tallyKeys: readonly string[] = primaryKeys.tally;
export const tallyCounts: readonly string[] = columnNames("tally").filter(
  (column) => !tallyKeys.includes(column),
);

/** Rows of each that one beat forgets at most: the next one comes soon. */
export const forgottenMax = 1000;

export function runnerRow(runner: RunnerRecord): readonly SqlValue[] {
  const { owner, host, pid, startedAt, seenAt, stoppedAt, concurrency, turns, workflows } = runner;
  return [owner, host, pid, startedAt, seenAt, stoppedAt, concurrency, turns, JSON.stringify(workflows)];
}

export function readRunner(row: SqlRow): RunnerRecord {
  return {
    owner: text(row, "owner"),
    host: textOrNull(row, "host"),
    pid: integerOrNull(row, "pid"),
    startedAt: integer(row, "started_at"),
    seenAt: integer(row, "seen_at"),
    stoppedAt: integerOrNull(row, "stopped_at"),
    concurrency: integer(row, "concurrency"),
    turns: integer(row, "turns"),
    workflows: readNames(text(row, "workflows")),
  };
}

function readNames(json: string): readonly string[] {
  try {
    return parseJson(json);
  } catch (error) {
    throw unreadable("workflows", json, error);
  }
}

/** Always in the same order, so that two beats that write the same rows wait for each other at the first. */
export function tallyRows(tallies: readonly Tally[]): readonly (readonly SqlValue[])[] {
  return tallies
    .toSorted((one, other) => one.minute - other.minute || (one.workflowName < other.workflowName ? -1 : 1))
    .map(({ minute, workflowName, complete, errored, terminated, steps, failedAttempts }) => [
      ...[minute, workflowName, complete, errored, terminated, steps, failedAttempts],
    ]);
}

/** Minutes of a span, of one workflow or of all; `t` is the table. */
export function selectTallies(table: string, quoted: (column: string) => string, ofOne: boolean): string {
  const sums = tallyCounts.map((column) => `SUM(t.${quoted(column)}) AS ${quoted(column)}`);
  return (
    `SELECT t.${quoted("minute")} AS ${quoted("minute")}, ${sums.join(", ")} FROM ${table} t ` +
    `WHERE t.${quoted("minute")} >= ? AND t.${quoted("minute")} < ? ` +
    `${ofOne ? `AND t.${quoted("workflow")} = ? ` : ""}GROUP BY t.${quoted("minute")} ORDER BY t.${quoted("minute")}`
  );
}

export function readMinute(row: SqlRow): MinuteTally {
  return {
    minute: integer(row, "minute"),
    complete: integer(row, "complete"),
    errored: integer(row, "errored"),
    terminated: integer(row, "terminated"),
    steps: integer(row, "steps"),
    failedAttempts: integer(row, "failed_attempts"),
  };
}
