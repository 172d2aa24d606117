/**
 * One event in one packet: the run is locked first, so that the statements behind see every wait that was registered
 * before (a statement sees what was committed when it began), and then moved and given the event, or nothing of it.
 * An id that is taken fails, which takes the whole back.
 */
import type { InstanceStatus } from "../../model/instance.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { SendEventOutcome, SendEventRequest } from "../../store/store.ts";
import { sentKeyText } from "../sql/rows/event-key.ts";
import { integer, text } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { SqlResult, Statement } from "../sql/session.ts";
import type { SendQuickly } from "../sql/write/quick-send.ts";
import { canBeWoken } from "../sql/write/quick-send.ts";
import { isMarked } from "./exchange.ts";
import { byKey } from "./rows.ts";

export function quickSends(names: TableNames): SendQuickly {
  const run = `${names.run} r ${byKey}`;
  const forget = "SET @everstep_run = NULL";
  const lock = `SELECT r.id INTO @everstep_run FROM ${run} WHERE r.id =
    (SELECT i.run FROM ${names.instance} i WHERE i.workflow = ? AND i.instance_id = ?) AND NOT EXISTS (
      SELECT 1 FROM ${names.event} e JOIN ${names.run} o ON o.id = e.run WHERE e.id = ? AND o.instance = r.instance
    ) FOR UPDATE`;
  const isAwaited = (by: string): string =>
    `${canBeWoken} AND EXISTS (SELECT 1 FROM ${names.step} w
      WHERE w.run = r.id AND w.is_open = 1 AND w.wake_at >= ? AND ${by} = ?)`;
  // The lane comes last, because the others look at it. Reaching LAST_INSERT_ID leaves a mark in the answer; it is given
  // something of the row, since what is the same for all rows may be worked out beforehand.
  const accept = (by: string): string => `UPDATE ${run} SET r.event_seq = r.event_seq + 1,
      r.kind = IF(${isAwaited(by)}, 'wake', r.kind), r.due_at = IF(${isAwaited(by)}, LEAST(r.due_at, ?), r.due_at),
      r.lane = IF(${isAwaited(by)}, IF(LAST_INSERT_ID(r.id) > 0, ${lanes.resuming}, NULL), r.lane)
    WHERE r.id = @everstep_run AND r.is_current = 1 AND r.status IN ('active', 'waiting', 'paused') AND r.event_seq < ?`;
  const acceptForStep = accept("w.`key`");
  const acceptOfType = accept("w.event_type");
  const columns = "run, seq, id, type, for_step, is_system, created_at, payload, payload_marks";
  const insert = `INSERT INTO ${names.event} (${columns}) SELECT r.id, r.event_seq, ${sentKeyText("r.instance", "?")}, ?, ?, ?, ?, ?, ?
    FROM ${run} WHERE r.id = @everstep_run AND ROW_COUNT() = 1`;
  const found = `SELECT r.id, r.status FROM ${run} WHERE r.id = @everstep_run`;

  const statementsFor = (request: SendEventRequest, now: number): readonly Statement[] => {
    const { workflowName, instanceId, id, type, forStep, system, payload, createdAt, bufferMax } = request;
    const match = [createdAt, forStep ?? type];
    const room = system ? Number.MAX_SAFE_INTEGER : bufferMax;
    return [
      { sql: forget, values: [] },
      // One of an earlier version is kept under its id alone; what has it already is left to the long way.
      { sql: lock, values: [workflowName, instanceId, id] },
      {
        sql: forStep === null ? acceptOfType : acceptForStep,
        values: [...match, ...match, now, ...match, room],
      },
      { sql: insert, values: [id, type, forStep, system ? 1 : 0, createdAt, payload.json, payload.marks] },
      { sql: found, values: [] },
    ];
  };

  return async (database, requests, now) => {
    const [request] = requests;
    if (request === undefined || requests.length > 1) return requests.map(() => null);
    const results = await database.transact((tx) => tx.commit(statementsFor(request, now)));
    return [outcomeOf(results)];
  };
}

function outcomeOf([, , accepted, , found]: readonly SqlResult[]): SendEventOutcome | null {
  const [row] = found?.rows ?? [];
  if (accepted?.changes !== 1 || row === undefined) return null;
  const status = text(row, "status") as InstanceStatus;
  return { kind: "accepted", runId: integer(row, "id"), status, duplicate: false, woke: isMarked(accepted) };
}
