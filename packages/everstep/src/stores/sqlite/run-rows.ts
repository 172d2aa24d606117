/** Hot rows of runs, read by key at the price of a microsecond and written by what has changed in them. */
import type { InstanceStatus, RunId } from "../../model/instance.ts";
import type { TaskKind } from "../../model/task.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import { changingColumns, changingValues, runColumns, runValues } from "../sql/rows/run-row.ts";
import type { Connection } from "./connection.ts";
import type { SqliteStatement } from "./driver.ts";

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
  /** Writes the columns that have changed and no others, so that no index is touched needlessly. */
  update(row: RunRow, before: Tuple): void;
  insert(row: RunRow): void;
  /** The same for the first run of an instance, as it is created. */
  insertFirst(row: RunRow): void;
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

    update(row, before) {
      const values = changingValues(row);
      const changed: SqlValue[] = [];
      let shape = 0;
      for (let n = 0; n < values.length; n += 1) {
        const value = values[n] as SqlValue;
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
  const begun = tuple[24] as string | null;
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
    begun: begun === null ? none : { unread: begun },
  };
  return { row, before: tuple, instanceId: tuple[25] as string, retentionMs: tuple[26] as number | null };
}

const none: readonly never[] = [];
