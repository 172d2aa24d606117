/** Steps of a run, and its open waits: those that something may still end. */
import type { CompletedStep, StepRecord } from "../../model/step.ts";
import { endsWait, type OpenWait, type SentEvent } from "../../model/wait-match.ts";
import { stepColumns, stepValues } from "../sql/step-row.ts";
import type { Connection } from "./connection.ts";

export interface Steps {
  /** Inserts the step, or replaces the recorded wait; what has settled never changes. */
  put(run: number, step: StepRecord): void;
  isWaiting(run: number, index: number): boolean;
  openWaits(run: number): readonly OpenWait[];
  /** Undelivered events of the run above a sequence. */
  newerEvents(run: number, seq: number): readonly SentEvent[];
  /** The run has ended: nothing may end its waits any more. */
  close(run: number): void;
  /** The run goes on after all. */
  reopen(run: number): void;
  remove(run: number, index: number): void;
  /** Open waits end later by so much. */
  shift(run: number, ms: number): void;
}

export function steps({ db, names }: Connection): Steps {
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
  const waiting = db.prepareTuples(
    `SELECT 1 FROM ${names.step} WHERE run = ? AND step_index = ? AND status = 'waiting'`,
  );
  // Named, because the planner would rather read all steps of the run by their key.
  const openSteps = `${names.step} INDEXED BY ${names.step}_open`;
  const open = db.prepareTuples(
    `SELECT key, event_type, wake_at FROM ${openSteps} WHERE run = ? AND is_open = 1`,
  );
  const newer = db.prepareTuples(
    `SELECT type, for_step, created_at FROM ${names.event} WHERE run = ? AND seq > ? AND delivered_at IS NULL`,
  );
  const anyOpen = db.prepareTuples(`SELECT 1 FROM ${openSteps} WHERE run = ? AND is_open = 1 LIMIT 1`);
  const close = db.prepare(`UPDATE ${openSteps} SET is_open = 0 WHERE run = ? AND is_open = 1`);
  const reopen = db.prepare(`UPDATE ${names.step} SET is_open = 1 WHERE run = ? AND status = 'waiting'`);
  const remove = db.prepare(`DELETE FROM ${names.step} WHERE run = ? AND step_index = ?`);
  const shift = db.prepare(`UPDATE ${openSteps} SET wake_at = wake_at + ? WHERE run = ? AND is_open = 1`);

  return {
    put(run, step) {
      if (!isPlain(step)) {
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
    isWaiting: (run, index) => waiting.get(run, index) !== undefined,
    openWaits: (run) => open.all(run).map(readWait),
    newerEvents: (run, seq) => newer.all(run, seq).map(readSent),
    close(run) {
      // Mostly there is none, and looking is cheaper than updating nothing.
      if (anyOpen.get(run) !== undefined) close.run(run);
    },
    reopen: (run) => void reopen.run(run),
    remove: (run, index) => void remove.run(run, index),
    shift: (run, ms) => void shift.run(ms, run),
  };
}

export function anyEnds(events: readonly SentEvent[], waits: readonly OpenWait[]): boolean {
  return events.some((event) => waits.some((wait) => endsWait(event, wait)));
}

function isPlain(step: StepRecord): step is CompletedStep {
  return (
    step.status === "completed" &&
    step.type === "do" &&
    step.attempts === 1 &&
    step.starts === 1 &&
    step.count === 1 &&
    step.depth === 0 &&
    step.parentKey === null &&
    step.wakeAt === null &&
    step.errors.length === 0 &&
    step.result.marks === null &&
    step.eventType === null &&
    step.topic === null
  );
}

function readWait(row: readonly unknown[]): OpenWait {
  return { key: row[0] as string, eventType: row[1] as string | null, wakeAt: row[2] as number };
}

function readSent(row: readonly unknown[]): SentEvent {
  return { type: row[0] as string | null, forStep: row[1] as string | null, createdAt: row[2] as number };
}
