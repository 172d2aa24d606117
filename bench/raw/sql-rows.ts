/**
 * The rows of the stores on SQL servers. They are gathered, so that a whole transaction goes out in one round trip with
 * few statements. `same-rows.ts` checks that they are the engine's.
 */
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

export type SqlTable = "instance" | "run" | "ending" | "step" | "event";
export type SqlValue = number | string | null;

/** A whole column or expression instead of a value. */
export interface Expression {
  readonly sql: string;
}

export type SqlWrite = SqlInsert | SqlUpdate;

export interface SqlInsert {
  readonly kind: "insert";
  readonly table: SqlTable;
  readonly columns: readonly string[];
  readonly rows: SqlValue[][];
}

/** The same change for every row whose `key` is one of `runs`. */
export interface SqlUpdate {
  readonly kind: "update";
  readonly table: SqlTable;
  readonly set: Readonly<Record<string, SqlValue | Expression>>;
  readonly key: "id" | "run";
  readonly runs: Runs;
  readonly also: Readonly<Record<string, SqlValue>>;
}

type RowShape = Readonly<Record<string, SqlValue>>;

export class SqlRows implements Rows {
  #writes: SqlWrite[] = [];

  /** What was gathered since the last time. */
  take(): readonly SqlWrite[] {
    const taken = this.#writes;
    this.#writes = [];
    return taken;
  }

  create(runs: Runs, workflow: string, now: number): void {
    this.#insert("instance", runs, (run) => ({
      id: run,
      workflow,
      instance_id: instanceId(run),
      run,
      created_at: now,
      params: "{}",
    }));
    this.#insert("run", runs, (run) => ({
      id: run,
      instance: run,
      workflow,
      run_number: 1,
      is_current: 1,
      status: "active",
      kind: "resume",
      lane: lane.held,
      due_at: now + leaseMs,
      owner,
      token: 1,
      last_commit: 0,
      event_seq: 0,
      log_seq: 0,
      crash_count: 0,
      recorded: 0,
      dead_letter: 0,
      created_at: now,
      started_at: now,
      updated_at: now,
    }));
  }

  step: Rows["step"] = (runs, { index, name, result }, now) =>
    this.#insert("step", runs, (run) => ({
      ...stepIdentity(run, index, name, "do", now),
      status: "completed",
      is_open: 0,
      attempts: 1,
      starts: 1,
      max_attempts: 6,
      timeout_ms: 600_000,
      settled_index: index,
      settled_at: now,
      result,
    }));

  advance(runs: Runs, commit: number, begun: string, now: number): void {
    this.#updateRuns(runs, {
      last_commit: commit,
      begun: begunText(begun, now),
      updated_at: now,
      recorded: 1,
    });
  }

  sleep: Rows["sleep"] = (runs, { index, name, wakeAt }, now) =>
    this.#insert("step", runs, (run) => ({
      ...stepIdentity(run, index, name, "sleep", now),
      ...openWait,
      waits_for: "timer",
      wake_at: wakeAt,
    }));

  waitForEvent: Rows["waitForEvent"] = (runs, { index, name, type }, now) =>
    this.#insert("step", runs, (run) => ({
      ...stepIdentity(run, index, name, "waitForEvent", now),
      ...openWait,
      event_type: type,
      waits_for: "event",
      wake_at: now + waitMs,
    }));

  settleWait: Rows["settleWait"] = (runs, index, { json, marks }, now) => {
    const settled = {
      status: "completed",
      is_open: 0,
      waits_for: null,
      settled_index: index,
      settled_at: now,
      result: json,
      result_marks: marks,
    };
    this.#update("step", "run", runs, settled, { step_index: index });
  };

  suspend(runs: Runs, commit: number, dueAt: number, now: number): void {
    this.#updateRuns(runs, {
      last_commit: commit,
      begun: null,
      updated_at: now,
      recorded: 1,
      status: "waiting",
      kind: "wake",
      lane: lane.resuming,
      due_at: dueAt,
      waiting_since: now,
    });
  }

  claim(runs: Runs, now: number): void {
    this.#updateRuns(runs, {
      lane: lane.held,
      kind: "resume",
      token: { sql: "token + 1" },
      last_commit: 0,
      owner,
      due_at: now + leaseMs,
      waiting_since: null,
      status: "active",
      updated_at: now,
    });
  }

  sendEvent: Rows["sendEvent"] = (runs, { seq, type, payload }, now) => {
    this.#insert("event", runs, (run) => ({
      run,
      seq,
      id: eventId(run, seq),
      type,
      is_system: 0,
      created_at: now,
      payload,
    }));
    this.#updateRuns(runs, { event_seq: seq, kind: "wake", lane: lane.resuming, due_at: now });
  };

  consume: Rows["consume"] = (runs, seq, { index, name }, now) => {
    this.#update("event", "run", runs, { delivered_at: now, consumed_by: name }, { seq });
    this.settleWait(runs, index, receivedEvent(now), now);
  };

  complete: Rows["complete"] = (runs, commit, { json, marks }, now) => {
    this.#updateRuns(runs, {
      last_commit: commit,
      begun: null,
      updated_at: now,
      recorded: 1,
      status: "complete",
      lane: null,
    });
    this.#insert("ending", runs, (run) => ({
      run,
      completed_at: now,
      output: json,
      output_marks: marks,
    }));
  };

  #insert(table: SqlTable, runs: Runs, rowOf: (run: number) => RowShape): void {
    const [first] = runs;
    if (first === undefined) return;
    const columns = Object.keys(rowOf(first));
    const rows = runs.map((run) => Object.values(rowOf(run)));
    const last = this.#writes.at(-1);
    const isSame = last?.kind === "insert" && last.table === table && last.columns.join() === columns.join();
    if (isSame) last.rows.push(...rows);
    else this.#writes.push({ kind: "insert", table, columns, rows });
  }

  #updateRuns(runs: Runs, set: SqlUpdate["set"]): void {
    this.#update("run", "id", runs, set, {});
  }

  #update(
    table: SqlTable,
    key: SqlUpdate["key"],
    runs: Runs,
    set: SqlUpdate["set"],
    also: SqlUpdate["also"],
  ): void {
    this.#writes.push({ kind: "update", table, key, runs, set, also });
  }
}

function stepIdentity(run: number, index: number, name: string, type: string, now: number): RowShape {
  return { run, step_index: index, key: name, name, count: 1, type, depth: 0, created_at: now };
}

const openWait = { status: "waiting", is_open: 1, attempts: 0, starts: 0, max_attempts: 1 } as const;
