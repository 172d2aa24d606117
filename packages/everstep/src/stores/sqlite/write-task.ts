/** Requests about a run's task alone: make it due, or take it from an owner that is gone or never heard of it. */

import { lanes } from "../../store/apply/lane.ts";
import type { AbandonOutcome, AbandonRequest, WakeOutcome, WakeRequest } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import type { Endings } from "./endings.ts";
import { type HotRows, hasLease } from "./hot-row.ts";
import { rowRelease } from "./leases.ts";
import { withWorkflows } from "./workflows.ts";

export type Wake = (request: WakeRequest, now: number) => WakeOutcome;
export type Abandon = (request: AbandonRequest, now: number) => AbandonOutcome;

export function wakes({ db, names }: Connection, hot: HotRows): Wake {
  const wake = db.prepare(
    `UPDATE ${names.run} SET kind = 'wake', lane = ${lanes.resuming}, due_at = min(due_at, ?) WHERE id = ?`,
  );
  return ({ runId, token }, now) => {
    const row = hot.byRun(runId);
    if (row === undefined || row.token !== token || row.lane === null || hasLease(row))
      return { kind: "ignored" };
    wake.run(now, row.run);
    return { kind: "woken" };
  };
}

/** Both look into every workflow's part of an index, because an owner's runs may be of any; owners die rarely. */
export function abandons(connection: Connection, hot: HotRows, endings: Endings): Abandon {
  const { db, names } = connection;
  const release = rowRelease(connection);
  const held = db.prepareTuples(
    `${withWorkflows(names)} SELECT r.id FROM known CROSS JOIN ${names.run} r
     WHERE r.workflow = known.workflow AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.owner = ?`,
  );
  const unfinished = db.prepareTuples(
    `${withWorkflows(names)} SELECT r.id FROM known CROSS JOIN ${names.run} r
     WHERE r.workflow = known.workflow AND r.is_current = 1 AND r.status IN ('active', 'waiting', 'paused') AND r.owner = ?`,
  );
  // Still leased, but over: the next claim sees a lease that ran out and counts the crash.
  const expire = db.prepare(`UPDATE ${names.run} SET due_at = min(due_at, ?) WHERE id = ?`);

  return ({ owner, fate }, now) => {
    const found = (fate.kind === "error" ? unfinished : held).all(owner).map((row) => row[0] as number);
    let runs = 0;
    for (const run of found) {
      const row = hot.byRun(run);
      if (row === undefined || (fate.kind === "release" && row.token !== fate.token)) continue;
      runs += 1;
      if (fate.kind === "expire") expire.run(now, run);
      else if (fate.kind === "release") release(row, undefined, now);
      else endings.end(row, { kind: "error", error: fate.error, deadLetter: false }, now);
    }
    return { kind: "abandoned", runs };
  };
}
