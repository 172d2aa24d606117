/** The rows a batch has made or changed, as a few statements: one per table and kind of change, whatever the batch's size. */

import { eventKey, nameKey } from "../../../store/apply/keys.ts";
import type { WorkingRun } from "../../../store/apply/working-run.ts";
import type { WorkingSet } from "../../../store/apply/working-set.ts";
import type { Dialect, RowsStatement, RowValues } from "../dialect.ts";
import { endingColumns, endingValues } from "../rows/ending-row.ts";
import { eventColumns, eventValues, publicationKey } from "../rows/event-row.ts";
import { instanceColumns, instanceValues } from "../rows/instance-row.ts";
import { logColumns, logValues } from "../rows/log-row.ts";
import { changingColumns, changingValues, runColumns, runValues } from "../rows/run-row.ts";
import { stepColumns, stepValues } from "../rows/step-row.ts";
import type { Statement } from "../session.ts";

export type Save = (set: WorkingSet) => readonly Statement[];

/**
 * Keys that others may be taking at the same moment come in a fixed order, table by table and sorted within each, so
 * that two writers never wait for each other in a circle.
 */
export function saves(dialect: Dialect): Save {
  const writers: readonly (readonly [RowsStatement, (set: WorkingSet) => RowValues[]])[] = [
    [dialect.insert("instance", instanceColumns), newInstances],
    [dialect.insert("run", runColumns), (set) => runsOf(set, (run) => run.isNew, newRun)],
    [
      dialect.update("run", ["id"], changingColumns),
      (set) => runsOf(set, (run) => !run.isNew && run.isChanged, changedRun),
    ],
    [dialect.update("instance", ["id"], ["run"]), movedInstances],
    ...stepWriters(dialect),
    [dialect.remove("ending", ["run"]), (set) => runsOf(set, (run) => run.forgetsEnding, runOnly)],
    [dialect.insert("ending", endingColumns), newEndings],
    ...eventWriters(dialect),
    [dialect.insert("log", logColumns), newLogs],
    [dialect.insert("publication", publicationColumns), (set) => newPublications(set, dialect.scopeOfTopic)],
    [dialect.insert("change", changeColumns), newChanges],
  ];
  return (set) =>
    writers.flatMap(([statement, rowsOf]) => {
      const rows = rowsOf(set);
      return rows.length === 0 ? [] : [statement(rows)];
    });
}

type Writer = readonly [RowsStatement, (set: WorkingSet) => RowValues[]];

function stepWriters(dialect: Dialect): readonly Writer[] {
  return [
    [
      dialect.remove("step", ["run", "step_index"]),
      (set) => each(set, ({ row, stepDrops }) => [...stepDrops].map((index) => [row.run, index])),
    ],
    [
      dialect.putSteps(stepColumns),
      (set) =>
        each(set, ({ row, stepPuts }) => [...stepPuts.values()].map((step) => stepValues(row.run, step))),
    ],
    [
      dialect.update("step", ["run", "step_index"], ["wake_at"]),
      (set) => each(set, ({ row, shifts }) => [...shifts].map(([index, wakeAt]) => [row.run, index, wakeAt])),
    ],
    [
      dialect.update("step", ["run"], ["is_open"], "t.is_open = 1"),
      (set) =>
        runsOf(
          set,
          (run) => run.opening === "close",
          ({ row }) => [row.run, 0],
        ),
    ],
    [
      dialect.update("step", ["run"], ["is_open"], "t.status = 'waiting'"),
      (set) =>
        runsOf(
          set,
          (run) => run.opening === "reopen",
          ({ row }) => [row.run, 1],
        ),
    ],
  ];
}

function eventWriters(dialect: Dialect): readonly Writer[] {
  const taking = ["delivered_at", "consumed_by"];
  return [
    [dialect.insert("event", eventColumns), newEvents],
    [
      dialect.update("event", ["run", "seq"], taking),
      (set) => each(set, ({ row, released }) => [...released].map((seq) => [row.run, seq, null, null])),
    ],
    [
      dialect.update("event", ["run", "seq"], taking, "t.delivered_at IS NULL"),
      (set) =>
        each(set, ({ row, consumed }) =>
          [...consumed].map(([seq, { stepKey, at }]) => [row.run, seq, at, stepKey]),
        ),
    ],
  ];
}

function newInstances(set: WorkingSet): RowValues[] {
  const created = [...set.runs.values()].flatMap((run) => {
    const { request } = run.instance;
    return run.isNew && run.row.isCurrent && request !== null
      ? [{ run: run.row.run, ...run.instance, request }]
      : [];
  });
  created.sort((a, b) => compare(nameKey(a), nameKey(b)));
  return created.map(({ id, run, request }) => instanceValues(id, run, request));
}

function newRun({ row }: WorkingRun): RowValues {
  return runValues(row);
}

function changedRun({ row }: WorkingRun): RowValues {
  return [row.run, ...changingValues(row)];
}

function runOnly({ row }: WorkingRun): RowValues {
  return [row.run];
}

function movedInstances(set: WorkingSet): RowValues[] {
  return runsOf(
    set,
    ({ row, instance }) => row.isCurrent && instance.isMoved,
    ({ row, instance }) => [instance.id, row.run],
  );
}

function newEndings(set: WorkingSet): RowValues[] {
  return each(set, ({ row, ending }) => (ending ? [endingValues(row.run, ending.ending, ending.at)] : []));
}

function newEvents(set: WorkingSet): RowValues[] {
  const events = [...set.runs.values()].flatMap(({ row, newEvents }) =>
    newEvents.map((event) => ({
      run: row.run,
      event: { ...event, id: `~${eventKey(row.instance, event)}` },
    })),
  );
  events.sort((a, b) => compare(a.event.id, b.event.id));
  return events.map(({ run, event }) => eventValues(run, event));
}

function newLogs(set: WorkingSet): RowValues[] {
  return each(set, ({ row, logs }) => logs.map(({ seq, line }) => logValues(row.run, seq, line)));
}

const publicationColumns = ["id", "topic", "created_at", "waiters", "runs"];

function newPublications({ newPublications }: WorkingSet, scopeOf: Dialect["scopeOfTopic"]): RowValues[] {
  const keyed = newPublications.map((each) => ({ ...each, key: publicationKey(each.request, scopeOf) }));
  keyed.sort((a, b) => compare(a.key, b.key));
  return keyed.map(({ key, request: { topic, createdAt }, made }) => {
    return [key, topic, createdAt, made.waiters, JSON.stringify(made.runIds)];
  });
}

const changeColumns = ["instance", "id", "outcome"];

function newChanges({ newChanges }: WorkingSet): RowValues[] {
  const sorted = newChanges.toSorted((a, b) => a.instance - b.instance || compare(a.id, b.id));
  return sorted.map(({ instance, id, outcome }) => [instance, id, JSON.stringify(outcome)]);
}

function each(set: WorkingSet, rows: (run: WorkingRun) => readonly RowValues[]): RowValues[] {
  return byId(set).flatMap(rows);
}

function runsOf(
  set: WorkingSet,
  fits: (run: WorkingRun) => boolean,
  row: (run: WorkingRun) => RowValues,
): RowValues[] {
  return byId(set).filter(fits).map(row);
}

function byId({ runs }: WorkingSet): WorkingRun[] {
  return [...runs.values()].sort((a, b) => a.row.run - b.row.run);
}

/** By code units: the same in every process, whatever its language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
