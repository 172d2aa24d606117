/**
 * Many commits and creations in one transaction that is one packet: nothing is read first. Every row is written as if all
 * of them passed, and a statement that fails in between takes everything back: the check behind the fence, or a name that
 * is taken. Then nothing was applied, and the batch goes the long way, where each request gets its own answer.
 *
 * Why it is right: rows that passed the fence are locked until the commit, and it is checked that all of them did before
 * anything depends on it; so whatever is written for a run is written behind its own fence, or not at all. The server
 * stops at the first statement of a packet that fails, and COMMIT is the last. A row that somebody else is writing is
 * waited for and judged as they left it (READ COMMITTED). Runs are locked first and in the order of their ids, then names
 * in theirs, as everybody does. A commit that was applied before has another number and does not pass.
 */

import { StoreError } from "../../model/error.ts";
import type { InstanceStatus } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import { afterPart } from "../../store/after-part.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { SendEventOutcome, SendEventRequest } from "../../store/store.ts";
import type { Part, RowsStatement, RowValues } from "../sql/dialect.ts";
import { around, joined } from "../sql/part.ts";
import { endingColumns, endingValues } from "../sql/rows/ending-row.ts";
import { sentKeyText } from "../sql/rows/event-row.ts";
import { instanceColumns } from "../sql/rows/instance-row.ts";
import { begunText } from "../sql/rows/json-column.ts";
import { logColumns, logValues } from "../sql/rows/log-row.ts";
import { integer, type SqlRow, type SqlValue, text } from "../sql/rows/row.ts";
import { runColumns, runValues } from "../sql/rows/run-row.ts";
import { stepColumns, stepValues } from "../sql/rows/step-row.ts";
import type { ColumnType, TableNames } from "../sql/schema/table.ts";
import type { Database, SqlResult, Statement } from "../sql/session.ts";
import { firstSteps, newInstances, takenEvents } from "../sql/write/quick-rows.ts";
import { canBeWoken, type SendQuickly } from "../sql/write/quick-send.ts";
import type { ApplyQuickly, QuickAnswer, QuickBatch, QuickCommit } from "../sql/write/quick-write.ts";
import { appendLogRows, byKey, insertRows, isMarked, putFencedStepRows, updateRows } from "./statements.ts";

export function quickWrites(names: TableNames): ApplyQuickly {
  const fence = fences(names);
  const stepRows = putFencedStepRows(names, stepColumns);
  const writers: readonly (readonly [RowsStatement, (batch: QuickBatch) => readonly RowValues[]])[] = [
    [
      insertRows(names, "instance", instanceColumns),
      (batch) => newInstances(batch).map(({ values }) => values),
    ],
    [insertRows(names, "run", runColumns), newRuns],
    [
      updateRows(names, "event", ["run", "seq"], ["delivered_at", "consumed_by"], "t.delivered_at IS NULL"),
      consumedEvents,
    ],
    [appendLogRows(names, logColumns), newLogs],
    [insertRows(names, "ending", endingColumns), newEndings],
  ];
  const close = `UPDATE ${names.step} s FORCE INDEX (\`open\`) SET s.is_open = 0 WHERE s.run IN (?) AND s.is_open = 1`;

  /** The fence, and what fails when it let not all of them pass: the first step, or a check of its own. */
  const fenced = (batch: QuickBatch): readonly Statement[] => {
    const { commits, now } = batch;
    const steps = newSteps(batch);
    const check = { fenced: commits.length, areNew: commits.every(({ steps: put }) => put.every(isNew)) };
    const pass = commits.length === 0 ? [] : [fence.pass(commits, now)];
    if (steps.length > 0) return [...pass, stepRows(steps, check)];
    return commits.length === 0 ? pass : [...pass, fence.requireAll(commits.length)];
  };

  const statementsOf = (batch: QuickBatch): readonly Statement[] => {
    const ended = batch.commits.filter(({ ending }) => ending !== null).map(({ run }) => run);
    return [
      ...fenced(batch),
      ...writers.flatMap(([statement, rowsOf]) => {
        const rows = rowsOf(batch);
        return rows.length === 0 ? [] : [statement(rows)];
      }),
      ...(ended.length === 0 ? [] : [{ sql: close, values: [ended] }]),
    ];
  };

  /** Read behind the commit: what came since then counts as well. Whoever could not be told repeats the commit. */
  const eventsOf = async (
    database: Database,
    commits: readonly QuickCommit[],
  ): Promise<readonly SqlRow[]> => {
    const runs = commits.map(({ run }) => run);
    const [newest] = await database.run([fence.newestEvents(runs)]).catch((error: unknown) => {
      throw afterPart(error);
    });
    return newest?.rows ?? [];
  };

  return async (database, batch) => {
    const { commits, creations } = batch;
    try {
      const [passed] = await database.transact((tx) => tx.commit(statementsOf(batch)));
      const committed = new Map(commits.map(({ run, request }) => [run, request.boundary.eventSeqSeen]));
      if (commits.length > 0 && isMarked(passed)) {
        for (const row of await eventsOf(database, commits))
          committed.set(integer(row, "id"), integer(row, "event_seq"));
      }
      return { committed, created: new Set(creations.runs.keys()), existing: new Map() };
    } catch (error) {
      if (wasRefused(error)) return nothingApplied;
      throw error;
    }
  };
}

const nothingApplied: QuickAnswer = { committed: new Map(), created: new Set(), existing: new Map() };

/** A step of this kind has not been waiting before, or very rarely so. */
function isNew(step: StepRecord): boolean {
  return step.type === "do" && step.status !== "waiting" && step.attempts <= 1;
}

/** One did not pass the fence, a name or a step is there already, or it is more at once than the server accepts. */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { failure, details } = error;
  return failure === "constraint" || failure === "too-large" || unpassed.has(details?.code);
}

/** What the two checks behind the fence fail with. */
const unpassed: ReadonlySet<unknown> = new Set(["ER_BAD_NULL_ERROR", "ER_SUBQUERY_NO_1_ROW"]);

function newRuns({ creations: { runs } }: QuickBatch): readonly RowValues[] {
  return [...runs.values()].map(({ row }) => runValues(row));
}

function newSteps(batch: QuickBatch): readonly RowValues[] {
  const rows: RowValues[] = [];
  for (const { run, steps } of batch.commits) for (const step of steps) rows.push(stepValues(run, step));
  return [...rows, ...firstSteps(batch)];
}

function consumedEvents(batch: QuickBatch): readonly RowValues[] {
  return takenEvents(batch).map(([run, seq, stepKey]) => [run, seq, batch.now, stepKey]);
}

/** Their sequence counts from the end: only the run's row knows how many lines there were before. */
function newLogs({ commits }: QuickBatch): readonly RowValues[] {
  return commits.flatMap(({ run, request: { boundary } }) =>
    boundary.logs.map((line, n) => logValues(run, boundary.logs.length - 1 - n, line)),
  );
}

function newEndings({ commits, now }: QuickBatch): readonly RowValues[] {
  return commits.flatMap(({ run, ending }) => (ending === null ? [] : [endingValues(run, ending, now)]));
}

/**
 * The hot rows of many commits in one UPDATE, which is the fence: it changes a row only while the commit's token is the
 * newest, its number the next, the run held and not paused, and no newer event is there for one that wants to suspend.
 */
interface Fence {
  /**
   * Changes the rows of all these runs; of fewer, when not all of them pass. Its result has a `mark` when one of them has
   * got events that its turn has not seen.
   */
  pass(commits: readonly QuickCommit[], now: number): Statement;
  /** Directly behind it, where no step is put there: fails unless all have passed. */
  requireAll(count: number): Statement;
  /** `id` and `event_seq` of these runs. */
  newestEvents(runs: readonly number[]): Statement;
}

type Of = (commit: QuickCommit) => SqlValue;

const earliest = -8_640_000_000_000_000;

function fences(names: TableNames): Fence {
  const run = `${names.run} r ${byKey}`;
  const retention = `(SELECT i.retention_ms FROM ${names.instance} i WHERE i.id = r.instance)`;
  // What stands for a value must not be two rows: a condition that fails a statement, without a procedure to raise it.
  const required = "SELECT (SELECT 1 FROM (SELECT 1 UNION ALL SELECT 2) two WHERE ROW_COUNT() <> ?)";
  const newest = `SELECT r.id, r.event_seq FROM ${run} WHERE r.id IN (?)`;

  return {
    pass(given, now) {
      const commits = given.toSorted((a, b) => a.run - b.run);
      const runs = commits.map((commit) => commit.run);
      const texts = (of: Of): Part => perRun(runs, commits.map(of), "text");
      const integers = (of: Of): Part => perRun(runs, commits.map(of), "integer");
      const at: Part = { sql: "?", values: [now] };

      // Assignments are made one after the other: those that follow see the new status and lane.
      const set: Part[] = [
        around("r.last_commit = r.last_commit + 1, r.crash_count = 0, r.updated_at = ", at),
        // Reaching LAST_INSERT_ID leaves a mark in the answer; otherwise it is 1 as well. It is given something of the row,
        // since what is the same for all rows may be worked out beforehand.
        around(
          "r.recorded = IF(r.event_seq = ",
          integers(({ request }) => request.boundary.eventSeqSeen),
          ", 1, LAST_INSERT_ID(r.id) > 0)",
        ),
        around(
          "r.begun = ",
          texts(({ request }) => begunText(request.boundary.begun)),
        ),
      ];
      if (commits.some(({ request }) => request.boundary.logs.length > 0)) {
        set.push(
          around(
            "r.log_seq = r.log_seq + ",
            integers(({ request }) => request.boundary.logs.length),
          ),
        );
      }
      if (commits.some(({ lane }) => lane !== lanes.held)) {
        set.push(
          around(
            "r.status = ",
            texts(({ status }) => status),
          ),
          around(
            "r.kind = COALESCE(",
            texts(({ kind }) => kind),
            ", r.kind)",
          ),
          around(
            "r.lane = ",
            integers(({ lane }) => lane),
          ),
          around("r.waiting_since = IF(r.status = 'waiting', ", at, ", NULL)"),
        );
      }
      if (commits.some(({ lane }) => lane === null)) {
        set.push(
          around("r.dead_letter = ", integers(isDeadLetter)),
          around("r.prune_at = IF(r.lane IS NULL, ", at, ` + ${retention}, NULL)`),
        );
      }
      // Most commits leave the end of their lease as it is, and the index for claims is spared.
      if (commits.some(({ lane, dueAt }) => lane !== null && (lane !== lanes.held || dueAt > 0))) {
        const least = `IF(r.lane = ${lanes.held}, r.due_at, ${earliest})`;
        const due = integers(({ lane, dueAt }) => (lane === null ? null : dueAt));
        set.push(around(`r.due_at = GREATEST(${least}, COALESCE(`, due, ", r.due_at))"));
      }

      const passes: Part[] = [
        { sql: `r.id IN (?) AND r.lane = ${lanes.held}`, values: [runs] },
        around(
          "r.token = ",
          integers(({ request }) => request.lease.token),
        ),
        around(
          "r.last_commit = ",
          integers(({ request }) => request.boundary.number - 1),
        ),
      ];
      if (commits.some(({ eventSeqSeen }) => eventSeqSeen !== null)) {
        const seen = integers(({ eventSeqSeen }) => eventSeqSeen);
        passes.push(around("r.event_seq <= COALESCE(", seen, ", r.event_seq)"));
      }
      return joined(
        [around(`UPDATE ${run} SET `, joined(set, ", ")), around(" WHERE ", joined(passes, " AND "))],
        "",
      );
    },

    requireAll: (count) => ({ sql: required, values: [count] }),

    newestEvents: (runs) => ({ sql: newest, values: [runs] }),
  };
}

function isDeadLetter({ ending }: QuickCommit): number {
  return ending?.kind === "error" && ending.deadLetter ? 1 : 0;
}

/** So many are told apart by lists of the runs that have them. */
const fewValues = 3;

/**
 * An expression for the rows of `run r` that gives each of these runs, whose ids ascend, its own value: so that one UPDATE
 * finds many rows by their keys, in order, and needs no table of values to join with. INTERVAL is a binary search.
 */
function perRun(runs: readonly number[], values: readonly SqlValue[], type: ColumnType): Part {
  const distinct = new Set<SqlValue>();
  for (const value of values) if (distinct.add(value).size > fewValues) return looked(runs, values, type);
  const [usual = null, ...others] = distinct;
  if (others.length === 0) return { sql: "?", values: [usual] };
  const cases = others.map((value) => [runs.filter((_run, n) => values[n] === value), value]);
  return {
    sql: `CASE${" WHEN r.id IN (?) THEN ?".repeat(cases.length)} ELSE ? END`,
    values: [...cases.flat(), usual],
  };
}

/** What ELT gives is text, which is compared in another way than numbers are. */
function looked(runs: readonly number[], values: readonly SqlValue[], type: ColumnType): Part {
  const sql = "ELT(INTERVAL(r.id, ?), ?)";
  return { sql: type === "integer" ? `CAST(${sql} AS SIGNED)` : sql, values: [runs, values] };
}

/**
 * One event in one packet: the run is locked first, so that the statements behind see every wait that was registered
 * before (a statement sees what was committed when it began), and then moved and given the event, or nothing of it.
 * An id that is taken fails, which takes the whole back.
 */
export function quickSends(names: TableNames): SendQuickly {
  const run = `${names.run} r ${byKey}`;
  const forget = "SET @everstep_run = NULL";
  const lock = `SELECT r.id INTO @everstep_run FROM ${run} WHERE r.id =
    (SELECT i.run FROM ${names.instance} i WHERE i.workflow = ? AND i.instance_id = ?) AND NOT EXISTS (
      SELECT 1 FROM ${names.event} e JOIN ${names.run} o ON o.id = e.run WHERE e.id = ? AND o.instance = r.instance
    ) FOR UPDATE`;
  const isAwaited = (by: string): string =>
    `${canBeWoken} AND EXISTS (SELECT 1 FROM ${names.step} w
      WHERE w.run = r.id AND w.is_open = 1 AND w.wake_at >= ? AND ${by} = ?)`;
  // The lane comes last, because the others look at it. Reaching LAST_INSERT_ID leaves a mark in the answer; it is given
  // something of the row, since what is the same for all rows may be worked out beforehand.
  const accept = (by: string): string => `UPDATE ${run} SET r.event_seq = r.event_seq + 1,
      r.kind = IF(${isAwaited(by)}, 'wake', r.kind), r.due_at = IF(${isAwaited(by)}, LEAST(r.due_at, ?), r.due_at),
      r.lane = IF(${isAwaited(by)}, IF(LAST_INSERT_ID(r.id) > 0, ${lanes.resuming}, NULL), r.lane)
    WHERE r.id = @everstep_run AND r.is_current = 1 AND r.status IN ('active', 'waiting', 'paused') AND r.event_seq < ?`;
  const acceptForStep = accept("w.`key`");
  const acceptOfType = accept("w.event_type");
  const columns = "run, seq, id, type, for_step, is_system, created_at, payload, payload_marks";
  const insert = `INSERT INTO ${names.event} (${columns}) SELECT r.id, r.event_seq, ${sentKeyText("r.instance", "?")}, ?, ?, ?, ?, ?, ?
    FROM ${run} WHERE r.id = @everstep_run AND ROW_COUNT() = 1`;
  const found = `SELECT r.id, r.status FROM ${run} WHERE r.id = @everstep_run`;

  const statementsFor = (request: SendEventRequest, now: number): readonly Statement[] => {
    const { workflowName, instanceId, id, type, forStep, system, payload, createdAt, bufferMax } = request;
    const match = [createdAt, forStep ?? type];
    const room = system ? Number.MAX_SAFE_INTEGER : bufferMax;
    return [
      { sql: forget, values: [] },
      // One of an earlier version is kept under its id alone; what has it already is left to the long way.
      { sql: lock, values: [workflowName, instanceId, id] },
      {
        sql: forStep === null ? acceptOfType : acceptForStep,
        values: [...match, ...match, now, ...match, room],
      },
      { sql: insert, values: [id, type, forStep, system ? 1 : 0, createdAt, payload.json, payload.marks] },
      { sql: found, values: [] },
    ];
  };

  return async (database, requests, now) => {
    const [request] = requests;
    if (request === undefined || requests.length > 1) return requests.map(() => null);
    const results = await database.transact((tx) => tx.commit(statementsFor(request, now)));
    return [outcomeOf(results)];
  };
}

function outcomeOf([, , accepted, , found]: readonly SqlResult[]): SendEventOutcome | null {
  const [row] = found?.rows ?? [];
  if (accepted?.changes !== 1 || row === undefined) return null;
  const status = text(row, "status") as InstanceStatus;
  return { kind: "accepted", runId: integer(row, "id"), status, duplicate: false, woke: isMarked(accepted) };
}
