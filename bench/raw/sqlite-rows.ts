/** The rows of the SQLite store, by one prepared statement per row. `same-rows.ts` checks that they are the engine's. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  begunText,
  eventId,
  instanceId,
  lane,
  leaseMs,
  owner,
  type Rows,
  type Runs,
  receivedEvent,
  waitMs,
} from "./rows.ts";

export function sqliteRows(db: DatabaseSync): Rows {
  const statements = prepare(db);
  const each = (runs: Runs, statement: StatementSync, values: (run: number) => SQLInputValue[]): void => {
    for (const run of runs) statement.run(...values(run));
  };
  const wait = (runs: Runs, { index, name, type, eventType, waitsFor, wakeAt }: Wait, now: number): void =>
    each(runs, statements.wait, (run) => [run, index, name, type, now, eventType, waitsFor, wakeAt]);

  const rows: Rows = {
    create(runs, workflow, now) {
      for (const run of runs) {
        statements.instance.run(run, workflow, instanceId(run), now);
        statements.run.run(run, workflow, now + leaseMs, now);
      }
    },
    step: (runs, { index, name, result }, now) =>
      each(runs, statements.step, (run) => [run, index, name, now, result]),
    advance(runs, commit, begun, now) {
      const text = begunText(begun, now);
      each(runs, statements.advance, (run) => [commit, text, now, run]);
    },
    sleep: (runs, sleep, now) =>
      wait(runs, { ...sleep, type: "sleep", eventType: null, waitsFor: "timer" }, now),
    waitForEvent: (runs, { type: eventType, ...at }, now) =>
      wait(runs, { ...at, type: "waitForEvent", eventType, waitsFor: "event", wakeAt: now + waitMs }, now),
    settleWait: (runs, index, { json, marks }, now) =>
      each(runs, statements.settleWait, (run) => [now, json, marks, run, index]),
    suspend: (runs, commit, dueAt, now) => each(runs, statements.suspend, (run) => [commit, now, dueAt, run]),
    claim: (runs, now) => each(runs, statements.claim, (run) => [now + leaseMs, now, run]),
    sendEvent(runs, { seq, type, payload }, now) {
      each(runs, statements.event, (run) => [run, seq, eventId(run, seq), type, now, payload]);
      each(runs, statements.wake, (run) => [seq, now, run]);
    },
    consume(runs, seq, { index, name }, now) {
      each(runs, statements.consume, (run) => [now, name, run, seq]);
      rows.settleWait(runs, index, receivedEvent(now), now);
    },
    complete(runs, commit, { json, marks }, now) {
      each(runs, statements.end, (run) => [commit, now, run]);
      each(runs, statements.ending, (run) => [run, now, json, marks]);
    },
  };
  return rows;
}

interface Wait {
  readonly index: number;
  readonly name: string;
  readonly type: string;
  readonly eventType: string | null;
  readonly waitsFor: string;
  readonly wakeAt: number;
}

function prepare(db: DatabaseSync) {
  return {
    instance: db.prepare(
      `INSERT INTO everstep_instance (id, workflow, instance_id, run, created_at, params)
       VALUES (?1, ?2, ?3, ?1, ?4, '{}')`,
    ),
    run: db.prepare(
      `INSERT INTO everstep_run (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, owner,
         token, recorded, created_at, started_at, updated_at)
       VALUES (?1, ?1, ?2, 1, 1, 'active', 'resume', ${lane.held}, ?3, '${owner}', 1, 0, ?4, ?4, ?4)`,
    ),
    step: db.prepare(
      `INSERT INTO everstep_step (run, step_index, key, name, count, type, status, is_open, depth, created_at,
         attempts, starts, max_attempts, timeout_ms, settled_index, settled_at, result)
       VALUES (?1, ?2, ?3, ?3, 1, 'do', 'completed', 0, 0, ?4, 1, 1, 6, 600000, ?2, ?4, ?5)`,
    ),
    wait: db.prepare(
      `INSERT INTO everstep_step (run, step_index, key, name, count, type, status, is_open, depth, created_at,
         attempts, starts, max_attempts, event_type, waits_for, wake_at)
       VALUES (?1, ?2, ?3, ?3, 1, ?4, 'waiting', 1, 0, ?5, 0, 0, 1, ?6, ?7, ?8)`,
    ),
    settleWait: db.prepare(
      `UPDATE everstep_step SET status = 'completed', is_open = 0, waits_for = NULL, settled_index = step_index,
         settled_at = ?, result = ?, result_marks = ? WHERE run = ? AND step_index = ?`,
    ),
    advance: db.prepare(
      "UPDATE everstep_run SET last_commit = ?, begun = ?, updated_at = ?, recorded = 1 WHERE id = ?",
    ),
    suspend: db.prepare(
      `UPDATE everstep_run SET last_commit = ?1, begun = NULL, updated_at = ?2, recorded = 1, status = 'waiting',
         kind = 'wake', lane = ${lane.resuming}, due_at = ?3, waiting_since = ?2 WHERE id = ?4`,
    ),
    claim: db.prepare(
      `UPDATE everstep_run SET lane = ${lane.held}, kind = 'resume', token = token + 1, last_commit = 0,
         owner = '${owner}', due_at = ?1, waiting_since = NULL, status = 'active', updated_at = ?2 WHERE id = ?3`,
    ),
    event: db.prepare(
      "INSERT INTO everstep_event (run, seq, id, type, is_system, created_at, payload) VALUES (?, ?, ?, ?, 0, ?, ?)",
    ),
    wake: db.prepare(
      `UPDATE everstep_run SET event_seq = ?, kind = 'wake', lane = ${lane.resuming}, due_at = ? WHERE id = ?`,
    ),
    consume: db.prepare(
      "UPDATE everstep_event SET delivered_at = ?, consumed_by = ? WHERE run = ? AND seq = ?",
    ),
    end: db.prepare(
      `UPDATE everstep_run SET last_commit = ?, begun = NULL, updated_at = ?, recorded = 1, status = 'complete',
         lane = NULL WHERE id = ?`,
    ),
    ending: db.prepare(
      "INSERT INTO everstep_ending (run, completed_at, output, output_marks) VALUES (?, ?, ?, ?)",
    ),
  };
}
