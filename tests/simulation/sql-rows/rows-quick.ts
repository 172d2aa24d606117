/** The ways that need one round trip: the fence and what is behind it in one transaction, without a look before. */
import type { InstanceStatus } from "../../../packages/everstep/src/model/instance.ts";
import { lanes } from "../../../packages/everstep/src/store/apply/lane.ts";
import type { WorkingRun } from "../../../packages/everstep/src/store/apply/working-run.ts";
import type { SendEventOutcome, SendEventRequest } from "../../../packages/everstep/src/store/store.ts";
import { endingColumns, endingValues } from "../../../packages/everstep/src/stores/sql/rows/ending-row.ts";
import {
  eventColumns,
  eventValues,
  sentKey,
  sentKeyText,
} from "../../../packages/everstep/src/stores/sql/rows/event-row.ts";
import {
  instanceColumns,
  instanceValues,
} from "../../../packages/everstep/src/stores/sql/rows/instance-row.ts";
import { begunText } from "../../../packages/everstep/src/stores/sql/rows/json-column.ts";
import { logColumns, logValues } from "../../../packages/everstep/src/stores/sql/rows/log-row.ts";
import { flag, integer, type SqlRow, text } from "../../../packages/everstep/src/stores/sql/rows/row.ts";
import { runColumns, runValues } from "../../../packages/everstep/src/stores/sql/rows/run-row.ts";
import { stepColumns, stepValues } from "../../../packages/everstep/src/stores/sql/rows/step-row.ts";
import type { Transaction } from "../../../packages/everstep/src/stores/sql/session.ts";
import type { SendQuickly } from "../../../packages/everstep/src/stores/sql/write/quick-send.ts";
import { canBeWoken } from "../../../packages/everstep/src/stores/sql/write/quick-send.ts";
import type {
  ApplyQuickly,
  ExistingInstance,
  QuickCommit,
} from "../../../packages/everstep/src/stores/sql/write/quick-write.ts";
import { inserting, puttingSteps } from "./rows-statements.ts";

export const applyQuickly: ApplyQuickly = (database, { commits, creations, now }) =>
  database.transact(async (tx) => {
    const existing = new Map<number, ExistingInstance>();
    for (const run of creations.runs.values()) {
      const there = await find(tx, run);
      if (there !== undefined) existing.set(run.row.run, there);
    }
    const committed = new Map<number, number>();
    for (const commit of commits) {
      const eventSeq = await apply(tx, commit, now);
      if (eventSeq !== undefined) committed.set(commit.run, eventSeq);
    }
    const created = new Set<number>();
    for (const run of creations.runs.values()) {
      if (existing.has(run.row.run)) continue;
      await create(tx, run);
      created.add(run.row.run);
    }
    return { committed, created, existing };
  });

async function find(tx: Transaction, { instance }: WorkingRun): Promise<ExistingInstance | undefined> {
  const [row] = await select(
    tx,
    "SELECT r.id AS run, r.status, r.run_number FROM instance i JOIN run r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?",
    [instance.workflowName, instance.instanceId],
  );
  if (row === undefined) return undefined;
  const status = text(row, "status") as InstanceStatus;
  return { run: integer(row, "run"), status, runNumber: integer(row, "run_number") };
}

const insertInstance = inserting("instance", instanceColumns);
const insertRun = inserting("run", runColumns);
const insertLogs = inserting("log", logColumns);
const insertEnding = inserting("ending", endingColumns);
const insertEvent = inserting("event", eventColumns);
const putSteps = puttingSteps(stepColumns);

async function create(tx: Transaction, { row, instance, stepPuts }: WorkingRun): Promise<void> {
  if (instance.request === null) return;
  await tx.run([
    insertInstance([instanceValues(instance.id, row.run, instance.request)]),
    insertRun([runValues(row)]),
  ]);
  if (stepPuts.size > 0)
    await tx.run([putSteps([...stepPuts.values()].map((step) => stepValues(row.run, step)))]);
}

/** The newest event of the run once the commit is applied; undefined when it did not pass the fence. */
async function apply(tx: Transaction, commit: QuickCommit, now: number): Promise<number | undefined> {
  const { run, steps, ending, request } = commit;
  const { boundary } = request;
  const before = await pass(tx, commit, now);
  if (before === undefined) return undefined;
  if (steps.length > 0) await tx.run([putSteps(steps.map((step) => stepValues(run, step)))]);
  for (const { seq, stepKey } of boundary.consumed) {
    const sql =
      "UPDATE event SET delivered_at = ?, consumed_by = ? WHERE run = ? AND seq = ? AND delivered_at IS NULL";
    await tx.run([{ sql, values: [now, stepKey, run, seq] }]);
  }
  const logSeq = integer(before, "log_seq");
  const logs = boundary.logs.map((line, at) => logValues(run, logSeq + at + 1, line));
  if (logs.length > 0) await tx.run([insertLogs(logs)]);
  if (ending !== null)
    await tx.run([
      insertEnding([endingValues(run, ending, now)]),
      { sql: "UPDATE step SET is_open = 0 WHERE run = ? AND is_open = 1", values: [run] },
    ]);
  return integer(before, "event_seq");
}

/** The run's row as it was; undefined when the commit may not be applied, or not quickly. */
async function pass(tx: Transaction, commit: QuickCommit, now: number): Promise<SqlRow | undefined> {
  const { run, request, lane, dueAt, ending, eventSeqSeen } = commit;
  const { lease, boundary } = request;
  const [row] = await select(
    tx,
    `SELECT r.*, i.retention_ms FROM run r JOIN instance i ON i.id = r.instance
      WHERE r.id = ? AND r.lane = ${lanes.held} AND r.token = ? AND r.last_commit = ?`,
    [run, lease.token, boundary.number - 1],
  );
  if (row === undefined || (eventSeqSeen !== null && integer(row, "event_seq") > eventSeqSeen))
    return undefined;
  const retentionMs = row.retention_ms;
  const pruneAt = ending === null || retentionMs === null ? null : now + Number(retentionMs);
  const isDeadLetter = ending?.kind === "error" && ending.deadLetter;
  const dueAgain = lane === lanes.held || lane === null ? Math.max(integer(row, "due_at"), dueAt) : dueAt;
  await tx.run([
    {
      sql: `UPDATE run SET last_commit = ?, crash_count = 0, recorded = 1, begun = ?, log_seq = log_seq + ?, status = ?,
        kind = coalesce(?, kind), lane = ?, due_at = ?, waiting_since = ?, dead_letter = ?, prune_at = ?, updated_at = ?
        WHERE id = ?`,
      values: [
        boundary.number,
        begunText(boundary.begun),
        boundary.logs.length,
        commit.status,
        commit.kind,
        lane,
        dueAgain,
        commit.status === "waiting" ? now : null,
        isDeadLetter ? 1 : 0,
        pruneAt,
        now,
        run,
      ],
    },
  ]);
  return row;
}

export const sendQuickly: SendQuickly = (database, requests, now) =>
  database.transact(async (tx) => {
    const outcomes: (SendEventOutcome | null)[] = [];
    for (const request of requests) outcomes.push(await send(tx, request, now));
    return outcomes;
  });

async function send(
  tx: Transaction,
  request: SendEventRequest,
  now: number,
): Promise<SendEventOutcome | null> {
  const [row] = await select(
    tx,
    `SELECT r.id AS run, r.instance, r.status, r.event_seq, ${canBeWoken} AND EXISTS (
        SELECT 1 FROM step w WHERE w.run = r.id AND w.is_open = 1 AND w.wake_at >= ?
          AND CASE WHEN ? IS NULL THEN w.event_type = ? ELSE w.key = ? END) AS is_awaited
      FROM instance i JOIN run r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?
        AND r.status IN ('active', 'waiting', 'paused') AND (? OR r.event_seq < ?)
        AND NOT EXISTS (SELECT 1 FROM event e WHERE e.id = ${sentKeyText("i.id", "?")})`,
    [
      ...[request.createdAt, request.forStep, request.type, request.forStep],
      ...[request.workflowName, request.instanceId, request.system ? 1 : 0, request.bufferMax, request.id],
    ],
  );
  if (row === undefined) return null;
  const run = integer(row, "run");
  const id = sentKey(integer(row, "instance"), request.id);
  const seq = integer(row, "event_seq") + 1;
  const woke = flag(row, "is_awaited");
  const moved = woke ? `, kind = 'wake', lane = ${lanes.resuming}, due_at = min(due_at, ?)` : "";
  await tx.run([
    { sql: `UPDATE run SET event_seq = ?${moved} WHERE id = ?`, values: [seq, ...(woke ? [now] : []), run] },
    insertEvent([eventValues(run, { ...request, id, topic: null, seq })]),
  ]);
  return {
    kind: "accepted",
    runId: run,
    status: text(row, "status") as InstanceStatus,
    duplicate: false,
    woke,
  };
}

async function select(tx: Transaction, sql: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
  const [result] = await tx.run([{ sql, values }]);
  return result?.rows ?? [];
}
