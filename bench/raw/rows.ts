/**
 * The rows of the SQLite store, written by hand: one prepared statement per row, without a fence, a read, a lease to
 * extend or anything to decide. What is left is what the store costs at least. `same-rows.ts` checks that these are
 * the rows the engine leaves.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

const leaseMs = 30_000;
export const waitMs = 86_400_000;
const owner = "00000000-0000-4000-8000-000000000000";
const undefinedMarks = '[[[],"undefined"]]';

/** Where a run stands in the queue, as numbers in the column `lane`. */
const lane = { resuming: 0, held: 2 } as const;

export interface Value {
  readonly json: string;
  readonly marks: string | null;
}

export const nothing: Value = { json: "null", marks: undefinedMarks };

export class Rows {
  readonly #reserve: StatementSync;
  readonly #instance: StatementSync;
  readonly #run: StatementSync;
  readonly #step: StatementSync;
  readonly #wait: StatementSync;
  readonly #settleWait: StatementSync;
  readonly #advance: StatementSync;
  readonly #suspend: StatementSync;
  readonly #claim: StatementSync;
  readonly #event: StatementSync;
  readonly #wake: StatementSync;
  readonly #consume: StatementSync;
  readonly #end: StatementSync;
  readonly #ending: StatementSync;

  constructor(db: DatabaseSync) {
    this.#reserve = db.prepare(
      "UPDATE everstep_meta SET value = value + ? WHERE name = 'last_run' RETURNING value",
    );
    this.#instance = db.prepare(
      `INSERT INTO everstep_instance (id, workflow, instance_id, run, created_at, params)
       VALUES (?1, ?2, ?3, ?1, ?4, '{}')`,
    );
    this.#run = db.prepare(
      `INSERT INTO everstep_run (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, owner,
         token, recorded, created_at, started_at, updated_at)
       VALUES (?1, ?1, ?2, 1, 1, 'active', 'resume', ${lane.held}, ?3, '${owner}', 1, 0, ?4, ?4, ?4)`,
    );
    this.#step = db.prepare(
      `INSERT INTO everstep_step (run, step_index, key, name, count, type, status, is_open, depth, created_at,
         attempts, starts, max_attempts, timeout_ms, settled_index, settled_at, result)
       VALUES (?1, ?2, ?3, ?3, 1, 'do', 'completed', 0, 0, ?4, 1, 1, 6, 600000, ?2, ?4, ?5)`,
    );
    this.#wait = db.prepare(
      `INSERT INTO everstep_step (run, step_index, key, name, count, type, status, is_open, depth, created_at,
         attempts, starts, max_attempts, event_type, waits_for, wake_at)
       VALUES (?1, ?2, ?3, ?3, 1, ?4, 'waiting', 1, 0, ?5, 0, 0, 1, ?6, ?7, ?8)`,
    );
    this.#settleWait = db.prepare(
      `UPDATE everstep_step SET status = 'completed', is_open = 0, waits_for = NULL, settled_index = step_index,
         settled_at = ?, result = ?, result_marks = ? WHERE run = ? AND step_index = ?`,
    );
    this.#advance = db.prepare(
      "UPDATE everstep_run SET last_commit = ?, begun = ?, updated_at = ?, recorded = 1 WHERE id = ?",
    );
    this.#suspend = db.prepare(
      `UPDATE everstep_run SET last_commit = ?1, begun = NULL, updated_at = ?2, recorded = 1, status = 'waiting',
         kind = 'wake', lane = ${lane.resuming}, due_at = ?3, waiting_since = ?2 WHERE id = ?4`,
    );
    this.#claim = db.prepare(
      `UPDATE everstep_run SET lane = ${lane.held}, kind = 'resume', token = token + 1, last_commit = 0,
         owner = '${owner}', due_at = ?1, waiting_since = NULL, status = 'active', updated_at = ?2 WHERE id = ?3`,
    );
    this.#event = db.prepare(
      `INSERT INTO everstep_event (run, seq, id, type, is_system, created_at, payload) VALUES (?, ?, ?, ?, 0, ?, ?)`,
    );
    this.#wake = db.prepare(
      `UPDATE everstep_run SET event_seq = ?, kind = 'wake', lane = ${lane.resuming}, due_at = ? WHERE id = ?`,
    );
    this.#consume = db.prepare(
      "UPDATE everstep_event SET delivered_at = ?, consumed_by = ? WHERE run = ? AND seq = ?",
    );
    this.#end = db.prepare(
      `UPDATE everstep_run SET last_commit = ?, begun = NULL, updated_at = ?, recorded = 1, status = 'complete',
         lane = NULL WHERE id = ?`,
    );
    this.#ending = db.prepare(
      "INSERT INTO everstep_ending (run, completed_at, output, output_marks) VALUES (?, ?, ?, ?)",
    );
  }

  /** Sets aside so many run ids and gives the first. */
  reserve(count: number): number {
    const row = this.#reserve.get(count) as { readonly value: number };
    return row.value - count + 1;
  }

  /** An instance with its run, leased from the start. */
  create(run: number, workflow: string, now: number): void {
    this.#instance.run(run, workflow, `i-${run}`, now);
    this.#run.run(run, workflow, now + leaseMs, now);
  }

  step(run: number, index: number, name: string, result: string, now: number): void {
    this.#step.run(run, index, name, now, result);
  }

  /** The run goes on, and the body named here is in flight. */
  advance(run: number, commit: number, begun: string | null, now: number): void {
    const text = begun === null ? null : `[{"key":"${begun}","name":"${begun}","start":1,"at":${now}}]`;
    this.#advance.run(commit, text, now, run);
  }

  sleep(run: number, index: number, name: string, wakeAt: number, now: number): void {
    this.#wait.run(run, index, name, "sleep", now, null, "timer", wakeAt);
  }

  waitForEvent(run: number, index: number, name: string, type: string, now: number): void {
    this.#wait.run(run, index, name, "waitForEvent", now, type, "event", now + waitMs);
  }

  settleWait(run: number, index: number, result: Value, now: number): void {
    this.#settleWait.run(now, result.json, result.marks, run, index);
  }

  suspend(run: number, commit: number, dueAt: number, now: number): void {
    this.#suspend.run(commit, now, dueAt, run);
  }

  claim(run: number, now: number): void {
    this.#claim.run(now + leaseMs, now, run);
  }

  sendEvent(run: number, seq: number, type: string, payload: string, now: number): void {
    this.#event.run(run, seq, `00000000-0000-4000-8000-${run}-${seq}`, type, now, payload);
    this.#wake.run(seq, now, run);
  }

  /** The event ends the wait, and its step holds it. */
  consume(
    run: number,
    seq: number,
    wait: { readonly index: number; readonly name: string },
    now: number,
  ): void {
    const json = `{"type":"go","payload":1,"timestamp":"${new Date(now).toISOString()}"}`;
    this.#consume.run(now, wait.name, run, seq);
    this.settleWait(run, wait.index, { json, marks: '[[["timestamp"],"Date"]]' }, now);
  }

  complete(run: number, commit: number, output: Value, now: number): void {
    this.#end.run(commit, now, run);
    this.#ending.run(run, now, output.json, output.marks);
  }
}
