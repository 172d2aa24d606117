/**
 * Many commits and creations with one statement, committed by itself. The UPDATE of the hot rows is the fence: what it
 * returns has passed, and everything else is written only for that. A batch uses only the parts it needs.
 */

import type { InstanceStatus } from "../../model/instance.ts";
import type { RowsPart } from "../sql/dialect.ts";
import { endingColumns, endingValues } from "../sql/ending.ts";
import { instanceColumns, instanceValues } from "../sql/instance-row.ts";
import { begunText } from "../sql/json-column.ts";
import { lanes } from "../sql/lane.ts";
import { logColumns, logValues } from "../sql/log-row.ts";
import type {
  ApplyQuickly,
  ExistingInstance,
  QuickAnswer,
  QuickBatch,
  QuickCommit,
} from "../sql/quick-write.ts";
import { integer, type SqlRow, type SqlValue, text } from "../sql/row.ts";
import { runColumns, runValues } from "../sql/run-row.ts";
import { stepColumns, stepValues } from "../sql/step-row.ts";
import type { Table, TableNames } from "../sql/table.ts";

/** The dialect's way to hand over rows, with the types of one of its tables. */
export type Given = (alias: string, columns: readonly string[], table?: Table) => RowsPart;

export function quickWrites(names: TableNames, given: Given): ApplyQuickly {
  const writers = [
    commits(names, given),
    consumptions(names, given),
    creations(names, given),
    steps(names, given),
    logs(names, given),
    endings(names, given),
  ];
  return async (database, batch) => {
    const parts = writers.flatMap((writer) => writer(batch) ?? []);
    const has = (name: string): boolean => parts.some((part) => part.name === name);
    const answers = [
      ...(has("fenced") ? [answerText("committed", "fenced", { event_seq: "t.event_seq" })] : []),
      ...(has("made") ? [answerText("created", "made", {})] : []),
      ...(has("known")
        ? [answerText("exists", "known", { run: "t.run", run_number: "t.run_number", status: "t.status" })]
        : []),
    ];
    const expressions = parts.map(({ name, sql }) => `${name} AS (${sql})`);
    const sql = `WITH ${expressions.join(", ")} ${answers.join(" UNION ALL ")}`;
    const [result] = await database.run([{ sql, values: parts.flatMap(({ values }) => values) }]);
    return readAnswer(result?.rows ?? []);
  };
}

function answerText(what: string, from: string, facts: Readonly<Record<string, string>>): string {
  const columns = Object.entries({ event_seq: "0", run: "0", run_number: "0", status: "''", ...facts });
  const list = columns.map(([name, value]) => `${value} AS ${name}`);
  return `SELECT '${what}' AS what, t.id, ${list.join(", ")} FROM ${from} t`;
}

function readAnswer(rows: readonly SqlRow[]): QuickAnswer {
  const committed = new Map<number, number>();
  const created = new Set<number>();
  const existing = new Map<number, ExistingInstance>();
  for (const row of rows) {
    const id = integer(row, "id");
    if (row.what === "committed") committed.set(id, integer(row, "event_seq"));
    else if (row.what === "created") created.add(id);
    else {
      const status = text(row, "status") as InstanceStatus;
      existing.set(id, { run: integer(row, "run"), status, runNumber: integer(row, "run_number") });
    }
  }
  return { committed, created, existing };
}

/** A common table expression and its values. */
interface Expression {
  readonly name: string;
  readonly sql: string;
  readonly values: readonly unknown[];
}

type Writer = (batch: QuickBatch) => readonly Expression[] | undefined;

/** The same, for rows that are there in any number but none. */
function overRows(
  name: string,
  part: RowsPart,
  text: (rows: string) => string,
  rowsOf: (batch: QuickBatch) => readonly (readonly SqlValue[])[],
): Writer {
  return (batch) => {
    const rows = rowsOf(batch);
    if (rows.length === 0) return undefined;
    const { sql, values } = part(rows);
    return [{ name, sql: text(sql), values }];
  };
}

function commits(names: TableNames, given: Given): Writer {
  const columns = [
    ...["run", "token", "last_commit", "event_seq", "status", "kind", "lane", "due_at", "dead_letter"],
    ...["log_seq", "updated_at", "begun"],
  ];
  return overRows(
    "fenced",
    given("v", columns),
    (rows) => `UPDATE ${names.run} AS r SET
        last_commit = v.last_commit, recorded = 1, crash_count = 0, begun = v.begun, updated_at = v.updated_at,
        log_seq = r.log_seq + v.log_seq, status = v.status, kind = coalesce(v.kind, r.kind), lane = v.lane,
        due_at = CASE v.lane WHEN ${lanes.held} THEN greatest(r.due_at, v.due_at) ELSE coalesce(v.due_at, r.due_at) END,
        waiting_since = CASE v.status WHEN 'waiting' THEN v.updated_at END, dead_letter = v.dead_letter,
        prune_at = CASE WHEN v.lane IS NULL THEN
          v.updated_at + (SELECT i.retention_ms FROM ${names.instance} i WHERE i.id = r.instance) END
      FROM ${rows}
      WHERE r.id = v.run AND r.token = v.token AND r.last_commit = v.last_commit - 1 AND r.lane = ${lanes.held}
        AND (v.event_seq IS NULL OR r.event_seq <= v.event_seq)
      RETURNING r.id, r.event_seq, r.log_seq, r.lane`,
    ({ commits: given, now }) => sorted(given).map((commit) => commitValues(commit, now)),
  );
}

/** In the order of ids, as everybody locks them. */
function sorted(given: readonly QuickCommit[]): readonly QuickCommit[] {
  return given.toSorted((a, b) => a.run - b.run);
}

function commitValues(commit: QuickCommit, now: number): readonly SqlValue[] {
  const { run, request, eventSeqSeen, status, kind, lane, dueAt, ending } = commit;
  const { lease, boundary } = request;
  return [
    run,
    lease.token,
    boundary.number,
    eventSeqSeen,
    status,
    kind,
    lane,
    lane === null ? null : dueAt,
    ending?.kind === "error" && ending.deadLetter ? 1 : 0,
    boundary.logs.length,
    now,
    begunText(boundary.begun),
  ];
}

function consumptions(names: TableNames, given: Given): Writer {
  return overRows(
    "consumed",
    given("v", ["run", "seq", "delivered_at", "consumed_by"]),
    (rows) => `UPDATE ${names.event} AS e SET delivered_at = v.delivered_at, consumed_by = v.consumed_by
      FROM ${rows} JOIN fenced f ON f.id = v.run
      WHERE e.run = v.run AND e.seq = v.seq AND e.delivered_at IS NULL`,
    ({ commits: given, now }) =>
      given.flatMap(({ run, request: { boundary } }) => {
        const first = new Map(boundary.consumed.toReversed().map(({ seq, stepKey }) => [seq, stepKey]));
        return [...first].map(([seq, stepKey]) => [run, seq, now, stepKey]);
      }),
  );
}

function creations(names: TableNames, given: Given): Writer {
  const instances = given("v", instanceColumns, "instance");
  const runs = given("v", runColumns, "run");
  const keys = given("v", ["id", "workflow", "instance_id"], "instance");
  const list = runColumns.join(", ");
  return ({ creations: { runs: made } }) => {
    if (made.size === 0) return undefined;
    const each = [...made.values()];
    const named = each.flatMap(({ row, instance: { id, request } }) =>
      request === null ? [] : [instanceValues(id, row.run, request)],
    );
    // By name, as everybody takes them.
    named.sort((a, b) => compare(`${a[1]}\n${a[2]}`, `${b[1]}\n${b[2]}`));
    const instance = instances(named);
    const run = runs(each.map(({ row }) => runValues(row)));
    const ids = keys(
      named.map(([id = null, workflow = null, instanceId = null]) => [id, workflow, instanceId]),
    );
    const columns = instanceColumns.join(", ");
    return [
      {
        name: "made",
        sql: `INSERT INTO ${names.instance} (${columns}) SELECT ${columns} FROM ${instance.sql}
          ON CONFLICT (workflow, instance_id) DO NOTHING RETURNING id`,
        values: instance.values,
      },
      {
        name: "begun_runs",
        sql: `INSERT INTO ${names.run} (${list}) SELECT ${runColumns.map((column) => `v.${column}`).join(", ")}
          FROM ${run.sql} JOIN made m ON m.id = v.id`,
        values: run.values,
      },
      {
        // Only for names that were taken; the statement sees everything as it was before.
        name: "known",
        sql: `SELECT v.id, r.id AS run, r.run_number, r.status FROM ${ids.sql}
          JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id
          JOIN ${names.run} r ON r.id = i.run WHERE NOT EXISTS (SELECT 1 FROM made m WHERE m.id = v.id)`,
        values: ids.values,
      },
    ];
  };
}

function steps(names: TableNames, given: Given): Writer {
  const part = given("v", stepColumns);
  const list = stepColumns.join(", ");
  const replaced = stepColumns.slice(2).map((column) => `${column} = excluded.${column}`);
  return (batch) => {
    const rows = [
      ...batch.commits.flatMap(({ run, steps: put, lane }) =>
        put.map((step) => (lane === null ? closed(stepValues(run, step)) : stepValues(run, step))),
      ),
      ...[...batch.creations.runs.values()].flatMap(({ row, stepPuts }) =>
        [...stepPuts.values()].map((step) => stepValues(row.run, step)),
      ),
    ];
    if (rows.length === 0) return undefined;
    const { sql, values } = part(rows);
    const owners = [
      ...(batch.commits.length > 0 ? ["SELECT f.id FROM fenced f"] : []),
      ...(batch.creations.runs.size > 0 ? ["SELECT m.id FROM made m"] : []),
    ].join(" UNION ALL ");
    return [
      {
        name: "put",
        sql: `INSERT INTO ${names.step} AS t (${list})
          SELECT ${stepColumns.map((column) => `v.${column}`).join(", ")} FROM ${sql} WHERE v.run IN (${owners})
          ON CONFLICT (run, step_index) DO UPDATE SET ${replaced.join(", ")} WHERE t.status = 'waiting'`,
        values,
      },
    ];
  };
}

const isOpenAt = stepColumns.indexOf("is_open");

/** A wait of a run that ends with this very commit is never open. */
function closed(values: readonly SqlValue[]): readonly SqlValue[] {
  return values.with(isOpenAt, 0);
}

function logs(names: TableNames, given: Given): Writer {
  // The second column counts from the end, because only the row knows how many lines there were before.
  const list = logColumns.join(", ");
  const written = logColumns.map((column) => (column === "seq" ? "f.log_seq - v.seq" : `v.${column}`));
  return overRows(
    "logged",
    given("v", logColumns),
    (rows) =>
      `INSERT INTO ${names.log} (${list}) SELECT ${written.join(", ")} FROM ${rows} JOIN fenced f ON f.id = v.run`,
    ({ commits: given }) =>
      given.flatMap(({ run, request: { boundary } }) =>
        boundary.logs.map((line, n) => logValues(run, boundary.logs.length - 1 - n, line)),
      ),
  );
}

function endings(names: TableNames, given: Given): Writer {
  const part = given("v", endingColumns);
  const puts = given("p", ["run", "step_index"]);
  const list = endingColumns.join(", ");
  return ({ commits: given, now }) => {
    const over = given.flatMap((commit) =>
      commit.ending === null ? [] : [{ ...commit, ending: commit.ending }],
    );
    if (over.length === 0) return undefined;
    const { sql, values } = part(over.map(({ run, ending }) => endingValues(run, ending, now)));
    // A row must not be written twice by one statement: those that are put are closed already.
    const put = puts(over.flatMap(({ run, steps: own }) => own.map(({ index }) => [run, index])));
    return [
      {
        name: "ended",
        sql: `INSERT INTO ${names.ending} (${list})
          SELECT ${endingColumns.map((column) => `v.${column}`).join(", ")} FROM ${sql} JOIN fenced f ON f.id = v.run`,
        values,
      },
      {
        name: "closed",
        sql: `UPDATE ${names.step} AS s SET is_open = 0 FROM fenced f
          WHERE f.lane IS NULL AND s.run = f.id AND s.is_open = 1
            AND NOT EXISTS (SELECT 1 FROM ${put.sql} WHERE p.run = s.run AND p.step_index = s.step_index)`,
        values: put.values,
      },
    ];
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
