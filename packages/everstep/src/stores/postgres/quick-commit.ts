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
import { isPlainStep, stepColumns, stepValues } from "../sql/rows/step-row.ts";
import { escapeText } from "../sql/rows/text-escape.ts";
import { columnType, type TableNames } from "../sql/schema/table.ts";
import { firstSteps } from "../sql/write/quick-rows.ts";
import type { QuickBatch, QuickCommit } from "../sql/write/quick-write.ts";
import { type Column, column, columnsAt, sameKey, tableText } from "./statements.ts";

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
    if (first !== undefined && steps !== "any")
      steps = isPlainStep(first) && first.key === first.name ? "plain" : "any";
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
function stepRow(run: number, step: StepRecord, lane: number | null): readonly SqlValue[] {
  const values = stepValues(run, step);
  if (lane === null) values[isOpenAt] = 0;
  return values;
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

function stepParameters(steps: FenceShape["steps"]): readonly Column<FenceRow>[] {
  return steps === "plain" ? plainStep : steps === "any" ? anyStep : [];
}

/**
 * The UPDATE of the hot rows is the fence: what it returns has passed, and everything else is written only for that. A
 * row of it carries the first step and the ending of its commit, so that nothing has to be joined to it again.
 *
 * The expressions, by name; `now` is the number of its parameter, `first` that of the first column.
 */
export function fenceTexts(
  names: TableNames,
  shape: FenceShape,
  now: string,
  first: number,
): readonly (readonly [string, string])[] {
  const { isMany, steps, ends, logs } = shape;
  const given = tableText("v", fenceColumns(shape), isMany, first);
  return [
    ["fenced", updateText(names, shape, now, given)],
    ...(steps === "none" ? [] : [["put", putText(names, steps)] as const]),
    ...(ends ? [["ended", endedText(names, now)] as const] : []),
    ...(logs ? [["logged", loggedText(names)] as const] : []),
  ];
}

function updateText(
  names: TableNames,
  { isMany, steps, ends, parks, logs }: FenceShape,
  now: string,
  given: string,
): string {
  const moved = ends || parks;
  const lane = moved ? "v.lane" : `${lanes.held}`;
  const set = [
    "last_commit = v.last_commit",
    "recorded = 1",
    "crash_count = 0",
    "begun = v.begun",
    `updated_at = ${now}::bigint`,
    `status = ${moved ? "v.status" : "'active'"}`,
    `lane = ${lane}`,
    moved
      ? `due_at = CASE v.lane WHEN ${lanes.held} THEN greatest(r.due_at, v.due_at) ELSE coalesce(v.due_at, r.due_at) END`
      : "due_at = greatest(r.due_at, v.due_at)",
    `waiting_since = ${parks ? `CASE v.status WHEN 'waiting' THEN ${now}::bigint END` : "NULL"}`,
    ...(parks ? ["kind = coalesce(v.kind, r.kind)"] : []),
    `dead_letter = ${ends ? "v.dead_letter" : "0"}`,
    ends
      ? `prune_at = CASE WHEN v.lane IS NULL THEN ${now}::bigint + ` +
        `(SELECT i.retention_ms FROM ${names.instance} i WHERE i.id = r.instance) END`
      : "prune_at = NULL",
    ...(logs ? ["log_seq = r.log_seq + v.log_seq"] : []),
  ];
  const carried = [
    ...(ends ? ["v.lane", ...endingColumns.slice(2).map((name) => `v.ending_${name}`)] : []),
    ...(logs ? ["r.log_seq - v.log_seq AS logged_before", "v.logs"] : []),
    ...stepParameters(steps).map(({ name }) => `v.${name}`),
  ];
  // A lane that could be told from this text would be one more way to look for the row, and a worse one.
  return `UPDATE ${names.run} AS r SET ${set.join(", ")} FROM ${given}
    WHERE ${sameKey("r.id", "v.run", isMany)} AND r.token = v.token AND r.last_commit = v.last_commit - 1
      AND coalesce(r.lane, -1) = ${lanes.held}${parks ? " AND (v.event_seq IS NULL OR r.event_seq <= v.event_seq)" : ""}
    RETURNING ${["r.id", "r.event_seq", ...carried].join(", ")}`;
}

/** What never differs between plain steps. */
const plainFacts = {
  name: "f.key",
  count: "1",
  type: "'do'",
  status: "'completed'",
  is_open: "0",
  depth: "0",
};

function putText(names: TableNames, steps: "plain" | "any"): string {
  const facts: readonly (readonly [string, string])[] =
    steps === "plain"
      ? [
          ...stepParameters(steps).map(({ name }) => [name, `f.${name}`] as const),
          ...Object.entries({ ...plainFacts, attempts: "1", starts: "1" }),
        ]
      : stepColumns
          .slice(1)
          .map((name) => [name, name === "status" ? "f.step_status" : `f.${name}`] as const);
  return `INSERT INTO ${names.step} AS t (run, ${facts.map(([name]) => name).join(", ")})
    SELECT f.id, ${facts.map(([, value]) => value).join(", ")} FROM fenced f WHERE f.step_index IS NOT NULL
    ${replacing}`;
}

/** What has settled never changes. */
const replacing: string =
  `ON CONFLICT (run, step_index) DO UPDATE SET ` +
  `${stepColumns
    .slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")} WHERE t.status = 'waiting'`;

function endedText(names: TableNames, now: string): string {
  const kept = endingColumns.slice(2);
  return `INSERT INTO ${names.ending} (run, completed_at, ${kept.join(", ")})
    SELECT f.id, ${now}::bigint, ${kept.map((name) => `f.ending_${name}`).join(", ")} FROM fenced f WHERE f.lane IS NULL`;
}

function loggedText(names: TableNames): string {
  const kept = logColumns.slice(2);
  const types = kept.map((name) => `${name} ${columnType(name) === "integer" ? "bigint" : "text"}`);
  return `INSERT INTO ${names.log} (run, seq, ${kept.join(", ")})
    SELECT f.id, f.logged_before + l.seq, ${kept.map((name) => `l.${name}`).join(", ")}
    FROM fenced f CROSS JOIN LATERAL json_to_recordset(f.logs::json) AS l (seq bigint, ${types.join(", ")})`;
}

/** What few commits have: events they took, more than one step, and waits that are open when the run ends. */
type Values = readonly SqlValue[];

export const consumedColumns: readonly Column<Values>[] = columnsAt(["run", "seq", "consumed_by"]);
export const moreColumns: readonly Column<Values>[] = columnsAt(stepColumns);

/** Steps beside the first of their commit, and those that a run begins with. */
export function moreRows(batch: QuickBatch): readonly Values[] {
  const rows: Values[] = [];
  for (const { run, steps, lane } of batch.commits) {
    for (let n = 1; n < steps.length; n += 1) {
      const step = steps[n];
      if (step !== undefined) rows.push(stepRow(run, step, lane));
    }
  }
  return [...rows, ...firstSteps(batch)];
}

export function consumedText(names: TableNames, isMany: boolean, now: string, first: number): string {
  // A text that named what is not delivered yet would open a worse way to look for it.
  return `UPDATE ${names.event} AS e SET delivered_at = ${now}::bigint, consumed_by = v.consumed_by
    FROM ${tableText("v", consumedColumns, isMany, first)}
    WHERE ${sameKey("e.run", "v.run", isMany)} AND e.seq = v.seq AND coalesce(e.delivered_at, -1) = -1 AND (v.run IN (SELECT f.id FROM fenced f)) IS TRUE`;
}

export function moreText(
  names: TableNames,
  isMany: boolean,
  first: number,
  has: { readonly commits: boolean; readonly creations: boolean },
): string {
  const owners = [
    ...(has.commits ? ["SELECT f.id FROM fenced f"] : []),
    ...(has.creations ? ["SELECT m.id FROM made m"] : []),
  ].join(" UNION ALL ");
  return `INSERT INTO ${names.step} AS t (${stepColumns.join(", ")})
    SELECT ${stepColumns.map((name) => `v.${name}`).join(", ")} FROM ${tableText("v", moreColumns, isMany, first)}
    WHERE (v.run IN (${owners})) IS TRUE ${replacing}`;
}

/**
 * Waits of a run that has ended are not open any more. A row must not be written twice by one statement: those that are
 * put are closed already. They are looked up run by run, by their place: nothing else may be tried, however few there
 * seem to be.
 */
export function closedText(
  names: TableNames,
  hasFirstStep: boolean,
  more: { readonly isMany: boolean; readonly first: number } | null,
): string {
  const put = [
    ...(hasFirstStep ? ["o.step_index IS DISTINCT FROM f.step_index"] : []),
    ...(more === null
      ? []
      : [
          `((o.run, o.step_index) IN (SELECT p.run, p.step_index FROM ${tableText("p", moreColumns, more.isMany, more.first)})) IS NOT TRUE`,
        ]),
  ];
  return `UPDATE ${names.step} AS s SET is_open = 0 WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM fenced f CROSS JOIN LATERAL (
      SELECT w.ctid, w.run, w.step_index FROM ${names.step} w WHERE w.run = f.id AND w.is_open = 1 OFFSET 0
    ) o WHERE ${["f.lane IS NULL", ...put].join(" AND ")}))`;
}
