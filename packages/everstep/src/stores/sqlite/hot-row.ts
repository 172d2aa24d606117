/** The few columns that decide whether a write about a run is allowed, read by primary key at the price of a microsecond. */
import { type InstanceStatus, isTerminal, type RunId } from "../../model/instance.ts";
import { isLeased } from "../../store/apply/lane.ts";
import type { Connection } from "./connection.ts";

export interface HotRow {
  readonly run: number;
  readonly instance: number;
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly lane: number | null;
  readonly dueAt: number;
  readonly token: number;
  readonly lastCommit: number;
  readonly eventSeq: number;
  readonly logSeq: number;
  readonly pausedAt: number | null;
  readonly crashCount: number;
}

export interface HotRows {
  byRun(run: RunId): HotRow | undefined;
  /** The current run of an instance. */
  byName(workflow: string, instanceId: string): HotRow | undefined;
}

const columns =
  "r.id, r.instance, r.run_number, r.status, r.lane, r.due_at, r.token, r.last_commit, r.event_seq, r.log_seq, r.paused_at, " +
  "r.crash_count";

export function hotRows({ db, names }: Connection): HotRows {
  const byRun = db.prepareTuples(`SELECT ${columns} FROM ${names.run} r WHERE r.id = ?`);
  const byName = db.prepareTuples(
    `SELECT ${columns} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run
     WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  return {
    byRun: (run) => read(byRun.get(runKey(run))),
    byName: (workflow, instanceId) => read(byName.get(workflow, instanceId)),
  };
}

/** Run ids are numbers here; one that came back as text is still good, and nonsense finds no row. */
export function runKey(run: RunId): number {
  return typeof run === "number" ? run : /^[1-9][0-9]{0,15}$/.test(run) ? Number(run) : -1;
}

export function hasLease(row: HotRow): boolean {
  return isLeased(row.lane);
}

/** A lease that has not run out. */
export function hasLeaseInForce(row: HotRow, now: number): boolean {
  return isLeased(row.lane) && row.dueAt > now;
}

export function hasEnded(row: HotRow): boolean {
  return isTerminal(row.status);
}

function read(row: readonly unknown[] | undefined): HotRow | undefined {
  if (row === undefined) return undefined;
  return {
    run: row[0] as number,
    instance: row[1] as number,
    runNumber: row[2] as number,
    status: row[3] as InstanceStatus,
    lane: row[4] as number | null,
    dueAt: row[5] as number,
    token: row[6] as number,
    lastCommit: row[7] as number,
    eventSeq: row[8] as number,
    logSeq: row[9] as number,
    pausedAt: row[10] as number | null,
    crashCount: row[11] as number,
  };
}
