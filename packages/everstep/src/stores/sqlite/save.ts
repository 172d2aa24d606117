/** Rows as SQLite reads and writes them: hot rows of runs, steps, and whatever else a request has made or changed. */
import type { InstanceStatus, RunId } from "../../model/instance.ts";
import type { LogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type { TaskKind } from "../../model/task.ts";
import type { Ending } from "../../store/apply/ending.ts";
import { eventKey } from "../../store/apply/keys.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { KnownWait, WorkingRun } from "../../store/apply/working-run.ts";
import type { WorkingInstance, WorkingSet } from "../../store/apply/working-set.ts";
import type { CreateRequest } from "../../store/store.ts";
import { endingColumns, endingValues } from "../sql/rows/ending-row.ts";
import { eventColumns, eventValues, publicationKey } from "../sql/rows/event-row.ts";
import { instanceColumns, instanceValues } from "../sql/rows/instance-row.ts";
import { logColumns, logValues } from "../sql/rows/log-row.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import {
  changingColumns,
  changingValue,
  readBegunColumn,
  runColumns,
  runValues,
} from "../sql/rows/run-row.ts";
import { isPlainStep, stepColumns, stepValues } from "../sql/rows/step-row.ts";
import type { SqliteStatement } from "./driver.ts";
import type { Shelf } from "./load.ts";
import type { Connection } from "./session.ts";

/** False, and nothing is written, when the name of a new instance is taken. */
type Save = (set: WorkingSet) => boolean;

/** What a run has ended with; the hot row says already that it has. */
type SaveEnding = (run: number, ending: Ending, at: number) => void;

type SaveLog = (run: number, seq: number, line: LogLine) => void;

/** Takes an event that nobody has taken. */
type Consume = (run: number, seq: number, stepKey: string, at: number) => void;

/** What quick commits write too. */
export interface Savers {
  readonly steps: Steps;
  readonly saveEnding: SaveEnding;
  readonly saveLog: SaveLog;
  readonly consume: Consume;
}

export function savers(connection: Connection): Savers {
  const { db, names } = connection;
  const ending = insertion(connection, names.ending, endingColumns);
  const log = insertion(connection, names.log, logColumns);
  const consume = db.prepare(
    `UPDATE ${names.event} SET delivered_at = ?, consumed_by = ? WHERE run = ? AND seq = ? AND delivered_at IS NULL`,
  );
  return {
    steps: steps(connection),
    saveEnding: (run, given, at) => void ending.run(...endingValues(run, given, at)),
    saveLog: (run, seq, line) => void log.run(...logValues(run, seq, line)),
    consume: (run, seq, stepKey, at) => void consume.run(at, stepKey, run, seq),
  };
}

export function saves(connection: Connection, rows: RunRows, parts: Savers): Save {
  const { steps, saveEnding, saveLog, consume } = parts;
  const saveInstance = instanceRows(connection);
  const saveSteps = stepRows(connection, steps);
  const saveEvents = eventRows(connection, consume);
  const saveAnswers = answers(connection);
  const { db, names } = connection;
  const forget = db.prepare(`DELETE FROM ${names.ending} WHERE run = ?`);

  const saveRun = (run: WorkingRun): void => {
    const { row } = run;
    if (!run.isNew) rows.update(row, (run.shelf as Shelf).before);
    else if (row.runNumber === 1 && !run.isChanged) rows.insertFirst(row);
    else rows.insert(row);
    saveSteps(run);
    if (run.forgetsEnding) forget.run(row.run);
    if (run.ending !== null) saveEnding(row.run, run.ending.ending, run.ending.at);
    saveEvents(run);
    for (const { seq, line } of run.logs) saveLog(row.run, seq, line);
  };

  return (set) => {
    for (const run of set.runs.values()) {
      if (!run.isNew && !run.isChanged) continue;
      if (run.row.isCurrent && !saveInstance(run.instance, run.row.run)) return false;
      saveRun(run);
    }
    saveAnswers(set);
    return true;
  };
}

/** The instance of a current run; false when its name is taken. */
function instanceRows(connection: Connection): (instance: WorkingInstance, run: number) => boolean {
  const { db, names } = connection;
  const into = (columns: readonly string[]): SqliteStatement<unknown> =>
    db.prepare(
      `INSERT INTO ${names.instance} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
       ON CONFLICT (workflow, instance_id) DO NOTHING`,
    );
  const insertAny = into(instanceColumns);
  // Most have no parent, no deadline and nothing to mark, and binding nothing costs too.
  const seldom: readonly string[] = ["deadline_at", "parent_workflow", "parent_instance", "params_marks"];
  const insertPlain = into(instanceColumns.filter((column) => !seldom.includes(column)));
  const insert = (id: number, run: number, request: CreateRequest): boolean => {
    const { workflowName, instanceId, createdAt, deadlineAt, retentionMs, parent, params } = request;
    const { changes } =
      deadlineAt === null && parent === null && params.marks === null
        ? insertPlain.run(id, workflowName, instanceId, run, createdAt, retentionMs, params.json)
        : insertAny.run(...instanceValues(id, run, request));
    return changes > 0;
  };
  const point = db.prepare(`UPDATE ${names.instance} SET run = ? WHERE id = ?`);
  return ({ id, request, isMoved }, run) => {
    if (request !== null) return insert(id, run, request);
    if (isMoved) point.run(run, id);
    return true;
  };
}

function stepRows({ db, names }: Connection, steps: Steps): (run: WorkingRun) => void {
  const drop = db.prepare(`DELETE FROM ${names.step} WHERE run = ? AND step_index = ?`);
  const shift = db.prepare(`UPDATE ${names.step} SET wake_at = ? WHERE run = ? AND step_index = ?`);
  const reopen = db.prepare(`UPDATE ${names.step} SET is_open = 1 WHERE run = ? AND status = 'waiting'`);
  return ({ row: { run }, stepDrops, stepPuts, shifts, opening }) => {
    if (stepDrops.size > 0) for (const index of stepDrops) drop.run(run, index);
    if (stepPuts.size > 0) for (const step of stepPuts.values()) steps.put(run, step);
    if (shifts.size > 0) for (const [index, wakeAt] of shifts) shift.run(wakeAt, run, index);
    if (opening === "close") steps.close(run);
    if (opening === "reopen") reopen.run(run);
  };
}

function eventRows(connection: Connection, consume: Consume): (run: WorkingRun) => void {
  const { db, names } = connection;
  const insert = insertion(connection, names.event, eventColumns);
  const release = db.prepare(
    `UPDATE ${names.event} SET delivered_at = NULL, consumed_by = NULL WHERE run = ? AND seq = ?`,
  );
  return ({ row: { run, instance }, newEvents, released, consumed }) => {
    for (const event of newEvents) {
      insert.run(...eventValues(run, event, `~${eventKey(instance, event)}`));
    }
    if (released.size > 0) for (const seq of released) release.run(run, seq);
    if (consumed.size > 0) for (const [seq, { stepKey, at }] of consumed) consume(run, seq, stepKey, at);
  };
}

/** What a repeat is answered with. */
function answers(connection: Connection): (set: WorkingSet) => void {
  const { names } = connection;
  const publication = insertion(connection, names.publication, [
    "id",
    "topic",
    "created_at",
    "waiters",
    "runs",
  ]);
  const change = insertion(connection, names.change, ["instance", "id", "outcome"]);
  return ({ newPublications, newChanges }) => {
    if (newPublications.length + newChanges.length === 0) return;
    for (const { request, made } of newPublications) {
      const { topic, createdAt } = request;
      publication.run(publicationKey(request), topic, createdAt, made.waiters, JSON.stringify(made.runIds));
    }
    for (const { instance, id, outcome } of newChanges) change.run(instance, id, JSON.stringify(outcome));
  };
}

function insertion({ db }: Connection, table: string, columns: readonly string[]): SqliteStatement<unknown> {
  return db.prepare(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
}

/** Steps of a run as its commits write them. */
interface Steps {
  /** Inserts the step, or replaces the recorded wait; what has settled never changes. */
  put(run: number, step: StepRecord): void;
  /** The run has ended: nothing may end its waits any more. */
  close(run: number): void;
}

function steps({ db, names }: Connection): Steps {
  const replaced = stepColumns.slice(2).map((column) => `${column} = excluded.${column}`);
  const put = db.prepare(
    `INSERT INTO ${names.step} (${stepColumns.join(", ")}) VALUES (${stepColumns.map(() => "?").join(", ")})
     ON CONFLICT (run, step_index) DO UPDATE SET ${replaced.join(", ")} WHERE status = 'waiting'`,
  );
  // A step that completed at its first attempt: most of the columns are known, and binding them costs more than the row.
  const putPlain = db.prepare(
    `INSERT INTO ${names.step} (run, step_index, key, name, count, type, status, is_open, depth, created_at, attempts, starts,
       max_attempts, timeout_ms, settled_index, settled_at, result)
     VALUES (?, ?, ?, ?, 1, 'do', 'completed', 0, 0, ?, 1, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (run, step_index) DO UPDATE SET ${replaced.join(", ")} WHERE status = 'waiting'`,
  );
  // Named, because the planner would rather read all steps of the run by their key.
  const openSteps = `${names.step} INDEXED BY ${names.step}_open`;
  const anyOpen = db.prepareTuples(`SELECT 1 FROM ${openSteps} WHERE run = ? AND is_open = 1 LIMIT 1`);
  const close = db.prepare(`UPDATE ${openSteps} SET is_open = 0 WHERE run = ? AND is_open = 1`);

  return {
    put(run, step) {
      if (!isPlainStep(step) || step.result.marks !== null) {
        put.run(...stepValues(run, step));
        return;
      }
      const { index, key, name, createdAt, maxAttempts, timeoutMs, settledIndex, settledAt, result } = step;
      putPlain.run(
        run,
        index,
        key,
        name,
        createdAt,
        maxAttempts,
        timeoutMs,
        settledIndex,
        settledAt,
        result.json,
      );
    },
    close(run) {
      // Mostly there is none, and looking is cheaper than updating nothing.
      if (anyOpen.get(run) !== undefined) close.run(run);
    },
  };
}

/** Hot rows of runs, read by key at the price of a microsecond and written by what has changed in them. */
export interface LoadedRun {
  readonly row: RunRow;
  /** The row as it was read. */
  readonly before: Tuple;
  readonly instanceId: string;
  readonly retentionMs: number | null;
}

type Tuple = readonly unknown[];

export interface RunRows {
  byRun(run: RunId): LoadedRun | undefined;
  /** The current run of an instance. */
  byName(workflow: string, instanceId: string): LoadedRun | undefined;
  /** Once for every open wait on the topic, one after the other; `waitOf` is that wait. */
  byTopic(topic: string): readonly LoadedRun[];
  /** Writes the columns that have changed and no others, so that no index is touched needlessly. */
  update(row: RunRow, before: Tuple): void;
  insert(row: RunRow): void;
  /** The same for the first run of an instance, as it is created. */
  insertFirst(row: RunRow): void;
}

/** Behind the run come its instance's name and retention. */
const waitAt = runColumns.length + 2;

/** Of a run that was found by its topic. */
export function waitOf({ before }: LoadedRun): KnownWait & { readonly index: number } {
  return {
    index: before[waitAt] as number,
    key: before[waitAt + 1] as string,
    eventType: before[waitAt + 2] as string | null,
    topic: before[waitAt + 3] as string | null,
    wakeAt: before[waitAt + 4] as number,
  };
}

const firstChanging = runColumns.length - changingColumns.length;

export function runRows({ db, names }: Connection): RunRows {
  const selection = `${runColumns.map((column) => `r.${column}`).join(", ")}, i.instance_id, i.retention_ms`;
  const byRun = db.prepareTuples(
    `SELECT ${selection} FROM ${names.run} r JOIN ${names.instance} i ON i.id = r.instance WHERE r.id = ?`,
  );
  const byName = db.prepareTuples(
    `SELECT ${selection} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run
     WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  const byTopic = db.prepareTuples(
    `SELECT ${selection}, s.step_index, s.key, s.event_type, s.topic, s.wake_at
     FROM ${names.step} s INDEXED BY ${names.step}_topic JOIN ${names.run} r ON r.id = s.run
     JOIN ${names.instance} i ON i.id = r.instance WHERE s.topic = ? AND s.is_open = 1`,
  );
  const insert = db.prepare(
    `INSERT INTO ${names.run} (${runColumns.join(", ")}) VALUES (${runColumns.map(() => "?").join(", ")})`,
  );
  // The rest is as the table has it by itself, and binding it costs more than the row.
  const insertFirst = db.prepare(
    `INSERT INTO ${names.run} (id, instance, workflow, run_number, created_at, is_current, status, kind, lane, due_at, owner,
       token, recorded, started_at, updated_at)
     VALUES (?, ?, ?, 1, ?, 1, 'active', ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  /** By the columns they write, a bit each. There are about as many as there are things that happen to a run. */
  const updates = new Map<number, SqliteStatement<unknown>>();
  const updateOf = (shape: number): SqliteStatement<unknown> => {
    const known = updates.get(shape);
    if (known !== undefined) return known;
    const set = changingColumns.filter((_column, n) => (shape >> n) & 1).map((column) => `${column} = ?`);
    const update = db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE id = ?`);
    updates.set(shape, update);
    return update;
  };

  return {
    byRun: (run) => read(byRun.get(runKey(run))),
    byName: (workflow, instanceId) => read(byName.get(workflow, instanceId)),
    byTopic: (topic) => byTopic.all(topic).map((tuple) => read(tuple) as LoadedRun),

    update(row, before) {
      const changed: SqlValue[] = [];
      let shape = 0;
      for (let n = 0; n < changingColumns.length; n += 1) {
        const value = changingValue(row, n);
        if (value === before[firstChanging + n]) continue;
        shape |= 1 << n;
        changed.push(value);
      }
      if (shape !== 0) updateOf(shape).run(...changed, row.run);
    },

    insert: (row) => void insert.run(...runValues(row)),

    insertFirst(row) {
      insertFirst.run(
        row.run,
        row.instance,
        row.workflow,
        row.createdAt,
        row.kind,
        row.lane,
        row.dueAt,
        row.owner,
        row.token,
        row.recorded ? 1 : 0,
        row.startedAt,
        row.updatedAt,
      );
    },
  };
}

/** Words are taken as they are: a damaged row must not keep the others of its batch from being written. */
function read(tuple: Tuple | undefined): LoadedRun | undefined {
  if (tuple === undefined) return undefined;
  const row: RunRow = {
    run: tuple[0] as number,
    instance: tuple[1] as number,
    workflow: tuple[2] as string,
    runNumber: tuple[3] as number,
    previousRun: tuple[4] as number | null,
    createdAt: tuple[5] as number,
    isCurrent: tuple[6] === 1,
    status: tuple[7] as InstanceStatus,
    kind: tuple[8] as TaskKind,
    lane: tuple[9] as number | null,
    dueAt: tuple[10] as number,
    owner: tuple[11] as string | null,
    token: tuple[12] as number,
    lastCommit: tuple[13] as number,
    eventSeq: tuple[14] as number,
    logSeq: tuple[15] as number,
    crashCount: tuple[16] as number,
    recorded: tuple[17] === 1,
    deadLetter: tuple[18] === 1,
    startedAt: tuple[19] as number | null,
    waitingSince: tuple[20] as number | null,
    pausedAt: tuple[21] as number | null,
    updatedAt: tuple[22] as number,
    pruneAt: tuple[23] as number | null,
    begun: readBegunColumn(tuple[24] as string | null),
  };
  return { row, before: tuple, instanceId: tuple[25] as string, retentionMs: tuple[26] as number | null };
}
