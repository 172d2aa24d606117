/** Writes what a request has made or changed, row by row. */

import type { LogLine } from "../../model/log-line.ts";
import type { Ending } from "../../store/apply/ending.ts";
import { eventKey } from "../../store/apply/keys.ts";
import type { WorkingRun } from "../../store/apply/working-run.ts";
import type { WorkingInstance, WorkingSet } from "../../store/apply/working-set.ts";
import { endingColumns, endingValues } from "../sql/rows/ending-row.ts";
import { publicationKey } from "../sql/rows/event-key.ts";
import { eventColumns, eventValues } from "../sql/rows/event-row.ts";
import { instanceColumns, instanceValues } from "../sql/rows/instance-row.ts";
import { logColumns, logValues } from "../sql/rows/log-row.ts";
import type { Connection } from "./connection.ts";
import type { SqliteStatement } from "./driver.ts";
import type { Shelf } from "./load.ts";
import type { RunRows } from "./run-rows.ts";
import { type Steps, steps } from "./steps.ts";

/** False, and nothing is written, when the name of a new instance is taken. */
export type Save = (set: WorkingSet) => boolean;

/** What a run has ended with; the hot row says already that it has. */
export type SaveEnding = (run: number, ending: Ending, at: number) => void;

export type SaveLog = (run: number, seq: number, line: LogLine) => void;

/** Takes an event that nobody has taken. */
export type Consume = (run: number, seq: number, stepKey: string, at: number) => void;

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
  const insert = db.prepare(
    `INSERT INTO ${names.instance} (${instanceColumns.join(", ")}) VALUES (${instanceColumns.map(() => "?").join(", ")})
     ON CONFLICT (workflow, instance_id) DO NOTHING`,
  );
  const point = db.prepare(`UPDATE ${names.instance} SET run = ? WHERE id = ?`);
  return ({ id, request, isMoved }, run) => {
    if (request !== null) return insert.run(...instanceValues(id, run, request)).changes > 0;
    if (isMoved) point.run(run, id);
    return true;
  };
}

function stepRows({ db, names }: Connection, steps: Steps): (run: WorkingRun) => void {
  const drop = db.prepare(`DELETE FROM ${names.step} WHERE run = ? AND step_index = ?`);
  const shift = db.prepare(`UPDATE ${names.step} SET wake_at = ? WHERE run = ? AND step_index = ?`);
  const reopen = db.prepare(`UPDATE ${names.step} SET is_open = 1 WHERE run = ? AND status = 'waiting'`);
  return ({ row: { run }, stepDrops, stepPuts, shifts, opening }) => {
    for (const index of stepDrops) drop.run(run, index);
    for (const step of stepPuts.values()) steps.put(run, step);
    for (const [index, wakeAt] of shifts) shift.run(wakeAt, run, index);
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
      insert.run(...eventValues(run, { ...event, id: `~${eventKey(instance, event)}` }));
    }
    for (const seq of released) release.run(run, seq);
    for (const [seq, { stepKey, at }] of consumed) consume(run, seq, stepKey, at);
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
