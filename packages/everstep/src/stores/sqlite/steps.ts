/** Steps of a run as its commits write them. */
import type { CompletedStep, StepRecord } from "../../model/step.ts";
import { stepColumns, stepValues } from "../sql/rows/step-row.ts";
import type { Connection } from "./connection.ts";

export interface Steps {
  /** Inserts the step, or replaces the recorded wait; what has settled never changes. */
  put(run: number, step: StepRecord): void;
  /** The run has ended: nothing may end its waits any more. */
  close(run: number): void;
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
  // Named, because the planner would rather read all steps of the run by their key.
  const openSteps = `${names.step} INDEXED BY ${names.step}_open`;
  const anyOpen = db.prepareTuples(`SELECT 1 FROM ${openSteps} WHERE run = ? AND is_open = 1 LIMIT 1`);
  const close = db.prepare(`UPDATE ${openSteps} SET is_open = 0 WHERE run = ? AND is_open = 1`);

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
    close(run) {
      // Mostly there is none, and looking is cheaper than updating nothing.
      if (anyOpen.get(run) !== undefined) close.run(run);
    },
  };
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
