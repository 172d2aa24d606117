/** What a commit writes beside steps. Each way to go on is its own statement, so that no index is touched needlessly. */
import type { Boundary } from "../../model/boundary.ts";
import type { TaskKind } from "../../model/task.ts";
import { laneOf, lanes } from "../../store/apply/lane.ts";
import { idOf } from "../sql/event-key.ts";
import { begunText } from "../sql/json-column.ts";
import { logColumns, logValues } from "../sql/log-row.ts";
import { text } from "../sql/row.ts";
import type { Connection } from "./connection.ts";
import type { Ending, Endings } from "./endings.ts";
import type { HotRow } from "./hot-row.ts";

export interface CommitRows {
  eventIdAt(run: number, seq: number): string | undefined;
  consume(run: number, seq: number, stepKey: string, now: number): void;
  log(row: HotRow, boundary: Boundary): void;
  /** The lease is kept. */
  goOn(row: HotRow, boundary: Boundary, leaseUntil: number, now: number): void;
  suspend(row: HotRow, boundary: Boundary, dueAt: number, kind: TaskKind, now: number): void;
  giveWay(row: HotRow, boundary: Boundary, dueAt: number, now: number): void;
  /** What was to come next waits for resume, which replays to the same point. */
  stayPaused(row: HotRow, boundary: Boundary, now: number): void;
  finish(row: HotRow, boundary: Boundary, ending: Ending, now: number): void;
}

export function commitRows({ db, names }: Connection, endings: Endings): CommitRows {
  const eventId = db.prepare(`SELECT id FROM ${names.event} WHERE run = ? AND seq = ?`);
  const consume = db.prepare(
    `UPDATE ${names.event} SET delivered_at = ?, consumed_by = ? WHERE run = ? AND seq = ? AND delivered_at IS NULL`,
  );
  const log = db.prepare(
    `INSERT INTO ${names.log} (${logColumns.join(", ")}) VALUES (${logColumns.map(() => "?").join(", ")})`,
  );
  const recorded = "last_commit = ?, log_seq = ?, begun = ?, updated_at = ?, recorded = 1";
  const applied = `${recorded}, crash_count = crash_count * ?`;
  const keep = db.prepare(`UPDATE ${names.run} SET ${applied} WHERE id = ?`);
  const extend = db.prepare(`UPDATE ${names.run} SET ${applied}, due_at = ? WHERE id = ?`);
  const suspend = db.prepare(
    `UPDATE ${names.run} SET ${applied}, status = 'waiting', kind = ?, lane = ?, due_at = ?, waiting_since = ? WHERE id = ?`,
  );
  const giveWay = db.prepare(
    `UPDATE ${names.run} SET ${applied}, kind = 'resume', lane = ${lanes.resuming}, due_at = ? WHERE id = ?`,
  );
  const stayPaused = db.prepare(`UPDATE ${names.run} SET ${applied}, lane = NULL WHERE id = ?`);

  const logSeqAfter = (row: HotRow, boundary: Boundary): number => row.logSeq + boundary.logs.length;

  return {
    eventIdAt(run, seq) {
      const row = eventId.get(run, seq);
      return row === undefined ? undefined : idOf(text(row, "id"));
    },

    consume: (run, seq, stepKey, now) => void consume.run(now, stepKey, run, seq),

    log(row, boundary) {
      for (const [n, line] of boundary.logs.entries())
        log.run(...logValues(row.run, row.logSeq + 1 + n, line));
    },

    goOn(row, boundary, leaseUntil, now) {
      const logSeq = logSeqAfter(row, boundary);
      const begun = begunText(boundary.begun);
      const crashes = keptCrashes(boundary);
      // A new end of the lease moves an index entry; a runner that leaves it alone for a while commits cheaper.
      if (leaseUntil > row.dueAt) {
        extend.run(boundary.number, logSeq, begun, now, crashes, leaseUntil, row.run);
      } else {
        keep.run(boundary.number, logSeq, begun, now, crashes, row.run);
      }
    },

    suspend(row, boundary, dueAt, kind, now) {
      const begun = begunText(boundary.begun);
      const logSeq = logSeqAfter(row, boundary);
      const crashes = keptCrashes(boundary);
      suspend.run(boundary.number, logSeq, begun, now, crashes, kind, laneOf(kind), dueAt, now, row.run);
    },

    giveWay(row, boundary, dueAt, now) {
      giveWay.run(
        boundary.number,
        logSeqAfter(row, boundary),
        begunText(boundary.begun),
        now,
        keptCrashes(boundary),
        dueAt,
        row.run,
      );
    },

    stayPaused(row, boundary, now) {
      const begun = begunText(boundary.begun);
      stayPaused.run(boundary.number, logSeqAfter(row, boundary), begun, now, keptCrashes(boundary), row.run);
    },

    finish(row, boundary, ending, now) {
      const logSeq = logSeqAfter(row, boundary);
      const begun = begunText(boundary.begun);
      const crashes = keptCrashes(boundary);
      endings.finish(row, ending, { number: boundary.number, logSeq, begun, crashes }, now);
    },
  };
}

/** What the count of crashes is multiplied with. */
function keptCrashes({ noProgress }: Boundary): number {
  return noProgress ? 1 : 0;
}
