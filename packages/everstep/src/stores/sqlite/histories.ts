/** What a turn reads before it replays. One damaged run must not keep the others from theirs. */
import { instanceStatuses } from "../../model/instance.ts";
import { runKey } from "../../store/apply/run-key.ts";
import { readWithin } from "../../store/read-within.ts";
import type { RunHistory, RunRead } from "../../store/store.ts";
import { readEvent } from "../sql/event-row.ts";
import { readBegun } from "../sql/json-column.ts";
import { word } from "../sql/row.ts";
import { readStep, stepColumns } from "../sql/step-row.ts";
import type { Connection } from "./connection.ts";
import { resultCode, rowFailure } from "./failures.ts";

export type ReadRuns = (requests: readonly RunRead[], bytesMax?: number) => readonly RunHistory[];

export function histories(connection: Connection): ReadRuns {
  const { db, names, settings } = connection;
  const runs = db.prepare(`SELECT status, begun FROM ${names.run} WHERE id = ?`);
  const steps = db.prepare(
    `SELECT ${stepColumns.join(", ")} FROM ${names.step} WHERE run = ? ORDER BY step_index`,
  );
  const events = db.prepare(
    `SELECT * FROM ${names.event} WHERE run = ? AND seq > ? AND delivered_at IS NULL ORDER BY seq`,
  );

  const read = ({ runId, steps: withSteps, eventsAfter }: RunRead): RunHistory | undefined => {
    const run = runKey(runId);
    const row = runs.get(run);
    if (row === undefined) return undefined;
    word(row, "status", instanceStatuses);
    readBegun(row, "begun");
    return {
      kind: "history",
      runId,
      steps: withSteps ? steps.all(run).map(readStep) : [],
      events: events.all(run, eventsAfter).map(readEvent),
    };
  };

  // A run that was removed meanwhile is left out: an empty history would be taken for one that never started.
  const readOne = (request: RunRead): readonly RunHistory[] => {
    try {
      const history = read(request);
      return history === undefined ? [] : [history];
    } catch (error) {
      // Trouble with the database as a whole is not the fault of this run.
      if (resultCode(error, settings) !== undefined) throw error;
      return [{ kind: "unreadable", runId: request.runId, error: rowFailure(error) }];
    }
  };

  return (requests, bytesMax) => connection.snapshot(() => readWithin(requests, bytesMax, readOne));
}
