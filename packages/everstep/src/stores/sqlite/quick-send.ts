/**
 * The common event with as little read as can be: for an instance that is there and has not ended, under an id that is new
 * and with a buffer that cannot be full. What does not fit goes the long way.
 */
import { type InstanceStatus, isTerminal } from "../../model/instance.ts";
import { endsWait } from "../../model/wait-match.ts";
import { canBeWoken, madeDue } from "../../store/apply/moves.ts";
import type { SendEventOutcome, SendEventRequest } from "../../store/store.ts";
import { isKey, sentKey } from "../sql/rows/event-key.ts";
import { eventColumns, eventValues } from "../sql/rows/event-row.ts";
import { type Move, moveColumns, moveValues } from "../sql/rows/run-row.ts";
import type { Connection } from "./connection.ts";
import type { SqliteStatement } from "./driver.ts";

/** Null when it was not accepted. */
export type QuickSend = (request: SendEventRequest, now: number) => SendEventOutcome | null;

export function quickSends({ db, names }: Connection): QuickSend {
  const find = db.prepareTuples(
    `SELECT r.id, r.instance, r.status, r.lane, r.due_at, r.crash_count, r.event_seq
     FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  // Of an earlier version, kept under its id alone.
  const older = db.prepareTuples(`SELECT 1 FROM ${names.event} WHERE id = ?`);
  const open = db.prepareTuples(
    `SELECT key, event_type, wake_at FROM ${names.step} INDEXED BY ${names.step}_open WHERE run = ? AND is_open = 1`,
  );
  const insert = db.prepare(
    `INSERT INTO ${names.event} (${eventColumns.join(", ")}) VALUES (${eventColumns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const updateOf = (move: Move): SqliteStatement<unknown> =>
    db.prepare(
      `UPDATE ${names.run} SET ${moveColumns(move)
        .map((column) => `${column} = ?`)
        .join(", ")} WHERE id = ?`,
    );
  const count = updateOf({ eventSeq: 0 });
  const wake = updateOf({ eventSeq: 0, ...madeDue({ dueAt: 0 }, "wake", 0) });

  const isAwaited = (run: number, event: SendEventRequest): boolean =>
    open.all(run).some((row) =>
      endsWait(event, {
        key: row[0] as string,
        eventType: row[1] as string | null,
        wakeAt: row[2] as number,
      }),
    );

  return (request, now) => {
    const found = request.logs === undefined && find.get(request.workflowName, request.instanceId);
    if (!found) return null;
    const [run, instance, status, lane, dueAt, crashCount, eventSeq] = found as HotRow;
    const canBeFull = !request.system && eventSeq >= request.bufferMax;
    if (isTerminal(status) || canBeFull) return null;
    if (!isKey(request.id) && older.get(request.id) !== undefined) return null;

    const woke = canBeWoken({ lane, status, crashCount }) && isAwaited(run, request);
    const seq = eventSeq + 1;
    const { type, forStep, system, payload, createdAt } = request;
    const id = sentKey(instance, request.id);
    const event = { seq, id, type, topic: null, forStep, system, payload, createdAt };
    if (insert.run(...eventValues(run, event)).changes === 0) return null;
    if (woke) wake.run(...moveValues({ eventSeq: seq, ...madeDue({ dueAt }, "wake", now) }), run);
    else count.run(seq, run);
    return { kind: "accepted", runId: run, status, duplicate: false, woke };
  };
}

type HotRow = readonly [
  run: number,
  instance: number,
  status: InstanceStatus,
  lane: number | null,
  dueAt: number,
  crashCount: number,
  eventSeq: number,
];
