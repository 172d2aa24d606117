/**
 * What commits hand over to the statement that checks their fences. A batch uses only the columns it needs: nearly all
 * commits are of one step that succeeded at once, and of such a step little has to be said.
 */
import type { CompletedStep, StepRecord } from "../../model/step.ts";
import { lanes } from "../../store/apply/lane.ts";
import { endingColumns, endingValues } from "../sql/rows/ending-row.ts";
import { begunText } from "../sql/rows/json-column.ts";
import { logColumns, logValues } from "../sql/rows/log-row.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import { stepColumns, stepValues } from "../sql/rows/step-row.ts";
import { escapeText } from "../sql/rows/text-escape.ts";
import type { QuickCommit } from "../sql/write/quick-write.ts";
import { type Column, column } from "./parameter-table.ts";

/** What the commits of a batch have between them. */
export interface FenceShape {
  readonly isMany: boolean;
  readonly steps: "none" | "plain" | "any";
  readonly ends: boolean;
  readonly parks: boolean;
  readonly logs: boolean;
}

export interface FenceRow {
  readonly commit: QuickCommit;
  /** Worked out only where they are asked for. */
  readonly step: readonly SqlValue[] | null;
  readonly ending: readonly SqlValue[] | null;
}

export function fenceShape(commits: readonly QuickCommit[]): FenceShape {
  let steps: FenceShape["steps"] = "none";
  let ends = false;
  let parks = false;
  let logs = false;
  for (const {
    steps: [first],
    ending,
    request,
    lane,
  } of commits) {
    if (first !== undefined && steps !== "any") steps = isPlain(first) ? "plain" : "any";
    if (ending !== null) ends = true;
    else if (lane !== lanes.held) parks = true;
    if (request.boundary.logs.length > 0) logs = true;
  }
  return { isMany: commits.length > 1, steps, ends, parks, logs };
}

/** In the order of ids, as everybody locks them. */
export function fenceRows(
  commits: readonly QuickCommit[],
  { steps, ends }: FenceShape,
  now: number,
): readonly FenceRow[] {
  const rows = commits.map((commit): FenceRow => {
    const {
      run,
      steps: [first],
      ending,
      lane,
    } = commit;
    return {
      commit,
      step: steps === "any" && first !== undefined ? stepRow(run, first, lane) : null,
      ending: ends && ending !== null ? endingValues(run, ending, now) : null,
    };
  });
  return rows.length === 1 ? rows : rows.sort((a, b) => a.commit.run - b.commit.run);
}

const isOpenAt = stepColumns.indexOf("is_open");

/** A wait of a run that ends with this very commit is never open. */
export function stepRow(run: number, step: StepRecord, lane: number | null): readonly SqlValue[] {
  const values = stepValues(run, step);
  if (lane === null) values[isOpenAt] = 0;
  return values;
}

/** Succeeded at once, at the top level and under its own name. */
function isPlain(step: StepRecord): boolean {
  return (
    step.status === "completed" &&
    step.type === "do" &&
    step.attempts === 1 &&
    step.starts === 1 &&
    step.count === 1 &&
    step.depth === 0 &&
    step.parentKey === null &&
    step.key === step.name &&
    step.wakeAt === null &&
    step.eventType === null &&
    step.topic === null &&
    step.errors.length === 0
  );
}

const always: readonly Column<FenceRow>[] = [
  column("run", ({ commit }) => commit.run),
  column("token", ({ commit }) => commit.request.lease.token),
  column("last_commit", ({ commit }) => commit.request.boundary.number),
  column("begun", ({ commit }) => begunText(commit.request.boundary.begun)),
  column("due_at", ({ commit }) => (commit.lane === null ? null : commit.dueAt)),
];

const moves: readonly Column<FenceRow>[] = [
  column("lane", ({ commit }) => commit.lane),
  column("status", ({ commit }) => commit.status),
];

const parking: readonly Column<FenceRow>[] = [
  column("kind", ({ commit }) => commit.kind),
  column("event_seq", ({ commit }) => commit.eventSeqSeen),
];

const endings: readonly Column<FenceRow>[] = [
  column("dead_letter", ({ commit: { ending } }) => (ending?.kind === "error" && ending.deadLetter ? 1 : 0)),
  ...endingColumns
    .slice(2)
    .map((name, n) => renamed(`ending_${name}`, ({ ending }) => ending?.[n + 2] ?? null)),
];

const logging: readonly Column<FenceRow>[] = [
  column("log_seq", ({ commit }) => commit.request.boundary.logs.length),
  renamed("logs", ({ commit }) => logsText(commit)),
];

const plainStep: readonly Column<FenceRow>[] = [
  column("step_index", ({ commit }) => firstOf(commit)?.index ?? null),
  column("key", ({ commit }) => firstOf(commit)?.key ?? null),
  column("created_at", ({ commit }) => firstOf(commit)?.createdAt ?? null),
  column("max_attempts", ({ commit }) => firstOf(commit)?.maxAttempts ?? null),
  column("timeout_ms", ({ commit }) => firstOf(commit)?.timeoutMs ?? null),
  column("settled_index", ({ commit }) => firstOf(commit)?.settledIndex ?? null),
  column("settled_at", ({ commit }) => firstOf(commit)?.settledAt ?? null),
  column("result", ({ commit }) => firstOf(commit)?.result.json ?? null),
  column("result_marks", ({ commit }) => firstOf(commit)?.result.marks ?? null),
];

const anyStep: readonly Column<FenceRow>[] = stepColumns
  .slice(1)
  // Both the run and its first step have one.
  .map((name, n) => {
    const of = ({ step }: FenceRow): SqlValue => step?.[n + 1] ?? null;
    return name === "status" ? renamed("step_status", of) : column(name, of);
  });

function renamed(name: string, of: (row: FenceRow) => SqlValue): Column<FenceRow> {
  return { ...column(name, of), isText: true };
}

/** Of a batch whose first steps are plain. */
function firstOf({ steps: [first] }: QuickCommit): CompletedStep | undefined {
  return first as CompletedStep | undefined;
}

/** Lines in an order that is theirs, and so many that a column each would be too many. */
function logsText({ run, request: { boundary } }: QuickCommit): string | null {
  if (boundary.logs.length === 0) return null;
  const lines = boundary.logs.map((line, n) => logValues(run, n + 1, line).map(escaped));
  return JSON.stringify(
    lines.map((values) => Object.fromEntries(logColumns.map((name, n) => [name, values[n]]))),
  );
}

/** Before JSON hides what the server cannot keep. */
function escaped(value: SqlValue): SqlValue {
  return typeof value === "string" ? escapeText(value) : value;
}

export function fenceColumns({ steps, ends, parks, logs }: FenceShape): readonly Column<FenceRow>[] {
  return [
    ...always,
    ...(ends || parks ? moves : []),
    ...(parks ? parking : []),
    ...(ends ? endings : []),
    ...(logs ? logging : []),
    ...stepParameters(steps),
  ];
}

export function stepParameters(steps: FenceShape["steps"]): readonly Column<FenceRow>[] {
  return steps === "plain" ? plainStep : steps === "any" ? anyStep : [];
}
