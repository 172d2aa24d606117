/** A person's decisions about an instance. Each is a move of the current run's hot row, checked before it is made. */
import { parseJson } from "../../model/json.ts";

import { lanes } from "../../store/apply/lane.ts";
import type { Change, ChangeOutcome, ChangeRequest } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import type { Endings } from "./endings.ts";
import { type HotRow, type HotRows, hasEnded, hasLease, hasLeaseInForce } from "./hot-row.ts";
import { appendsLogs } from "./log-rows.ts";
import type { RunIds } from "./run-ids.ts";
import type { Steps } from "./steps.ts";
import { type Create, putAll } from "./write-create.ts";

export type MakeChange = (request: ChangeRequest, now: number) => ChangeOutcome;

export interface ChangeParts {
  readonly hot: HotRows;
  readonly ids: RunIds;
  readonly steps: Steps;
  readonly endings: Endings;
  readonly create: Create;
}

type Of<Kind extends Change["kind"]> = Extract<Change, { readonly kind: Kind }>;

export function changes(connection: Connection, parts: ChangeParts): MakeChange {
  const { hot, endings } = parts;
  const pause = pauses(connection);
  const resume = resumes(connection, parts);
  const restart = restarts(connection, parts);
  const retryStep = stepRetries(connection, parts);
  const made = madeChanges(connection);
  const append = appendsLogs(connection);

  const make = (row: HotRow, change: Change, now: number): void => {
    switch (change.kind) {
      case "pause":
        return pause(row, now);
      case "resume":
        return resume(row, change, now);
      case "terminate":
        return endings.end(row, change, now);
      case "restart":
        return restart(row, change, now);
      case "retryStep":
        return retryStep(row, change, now);
    }
  };

  return ({ id, workflowName, instanceId, when, change, announce, logs }, now) => {
    const row = hot.byName(workflowName, instanceId);
    if (row === undefined) return { kind: "not-found" };
    const before = made.find(row.instance, id);
    if (before !== undefined) return before;
    const { status, runNumber } = row;
    const { runNumber: meantNumber = runNumber, token: meantToken = row.token } = when;
    const meant = meantNumber === runNumber && meantToken === row.token;
    if (!meant || !when.statuses.includes(status)) return { kind: "refused", status, runNumber };

    make(row, change, now);
    if (announce) parts.create({ ...announce, lease: null }, now);
    const after = hot.byName(workflowName, instanceId) ?? row;
    if (logs) append(after, logs);
    const outcome: ChangeOutcome = {
      kind: "changed",
      runId: after.run,
      status: after.status,
      runNumber: after.runNumber,
      leased: hasLeaseInForce(row, now),
    };
    made.keep(row.instance, id, outcome);
    return outcome;
  };
}

/** What became of an instance's changes, by their ids: a repeat after a lost reply is answered as it was then. */
interface MadeChanges {
  find(instance: number, id: string): ChangeOutcome | undefined;
  keep(instance: number, id: string, outcome: ChangeOutcome): void;
}

function madeChanges({ db, names }: Connection): MadeChanges {
  const find = db.prepareTuples(`SELECT outcome FROM ${names.change} WHERE instance = ? AND id = ?`);
  const keep = db.prepare(`INSERT INTO ${names.change} (instance, id, outcome) VALUES (?, ?, ?)`);
  return {
    find(instance, id) {
      const found = find.get(instance, id);
      return found === undefined ? undefined : (parseJson(found[0] as string) as ChangeOutcome);
    },
    keep: (instance, id, outcome) => void keep.run(instance, id, JSON.stringify(outcome)),
  };
}

/** A lease in force stays, so that a step in flight can still be recorded. */
function pauses({ db, names }: Connection): (row: HotRow, now: number) => void {
  const pause = db.prepare(
    `UPDATE ${names.run} SET status = 'paused', paused_at = ?, lane = ?, updated_at = ? WHERE id = ?`,
  );
  return (row, now) => void pause.run(now, hasLease(row) ? lanes.heldPaused : null, now, row.run);
}

/** A lease that ran out during the pause is left to the next claim, which counts it as a crash. */
function resumes({ db, names }: Connection, { steps }: ChangeParts) {
  const resume = db.prepare(
    `UPDATE ${names.run} SET status = 'active', paused_at = NULL, kind = 'resume', lane = ?, due_at = ?, updated_at = ?,
       token = token + ? WHERE id = ?`,
  );
  return (row: HotRow, { shiftDeadlines }: Of<"resume">, now: number): void => {
    if (shiftDeadlines && row.pausedAt !== null) steps.shift(row.run, Math.max(0, now - row.pausedAt));
    const leased = hasLeaseInForce(row, now);
    // Waits were moved: a turn that some runner kept in memory must not go on with the old ones.
    const tokens = shiftDeadlines && !leased ? 1 : 0;
    resume.run(hasLease(row) ? lanes.held : lanes.resuming, leased ? row.dueAt : now, now, tokens, row.run);
  };
}

/** The next run takes over the token, so that tokens of an instance never go back. The run before it is kept. */
function restarts({ db, names }: Connection, { ids, steps, endings }: ChangeParts) {
  const retire = db.prepare(`UPDATE ${names.run} SET is_current = 0, prune_at = NULL WHERE id = ?`);
  const point = db.prepare(`UPDATE ${names.instance} SET run = ? WHERE id = ?`);
  const insert = db.prepare(
    `INSERT INTO ${names.run} (id, instance, workflow, run_number, previous_run, is_current, status, kind, lane, due_at,
       token, recorded, created_at, updated_at)
     SELECT ?, instance, workflow, run_number + 1, id, 1, 'active', 'run', ${lanes.starting}, ?, ?, ?, created_at, ?
     FROM ${names.run} WHERE id = ?`,
  );
  const reason = { source: "restarted", message: null } as const;

  return (row: HotRow, { history }: Of<"restart">, now: number): void => {
    const run = ids.take();
    if (!hasEnded(row)) endings.end(row, { kind: "terminate", reason }, now);
    insert.run(run, now, row.token + 1, history.length > 0 ? 1 : 0, now, row.run);
    retire.run(row.run);
    point.run(run, row.instance);
    putAll(steps, run, history);
  };
}

/** The one way out of `errored` within a run. */
function stepRetries({ db, names }: Connection, { steps }: ChangeParts) {
  const forget = db.prepare(`DELETE FROM ${names.ending} WHERE run = ?`);
  const release = db.prepare(
    `UPDATE ${names.event} SET delivered_at = NULL, consumed_by = NULL WHERE run = ? AND consumed_by = ?`,
  );
  const reopen = db.prepare(
    `UPDATE ${names.run} SET status = 'active', kind = 'retry', lane = ${lanes.resuming}, due_at = ?, token = token + 1,
       last_commit = 0, crash_count = 0, dead_letter = 0, prune_at = NULL, begun = NULL, updated_at = ?
     WHERE id = ?`,
  );
  return (row: HotRow, change: Of<"retryStep">, now: number): void => {
    forget.run(row.run);
    for (const index of change.drop) steps.remove(row.run, index);
    if (change.reopen) {
      // What has settled is never replaced, so the failed record gives way first.
      steps.remove(row.run, change.reopen.index);
      steps.put(row.run, change.reopen);
    }
    steps.reopen(row.run);
    for (const key of change.releaseEventsOf) release.run(row.run, key);
    reopen.run(change.dueAt, now, row.run);
  };
}
