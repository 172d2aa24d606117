/**
 * Many commits and creations in one transaction that is one packet: nothing is read first. Every row is written as if all
 * of them passed, and a statement that fails in between takes everything back: the check behind the fence, or a name that
 * is taken. Then nothing was applied, and the batch goes the long way, where each request gets its own answer.
 *
 * Why it is right: rows that passed the fence are locked until the commit, and it is checked that all of them did before
 * anything depends on it; so whatever is written for a run is written behind its own fence, or not at all. The server
 * stops at the first statement of a packet that fails, and COMMIT is the last. A row that somebody else is writing is
 * waited for and judged as they left it (READ COMMITTED). Runs are locked first and in the order of their ids, then names
 * in theirs, as everybody does. A commit that was applied before has another number and does not pass.
 */

import { StoreError } from "../../model/error.ts";
import type { StepRecord } from "../../model/step.ts";
import { afterPart } from "../../store/after-part.ts";
import { nameKey } from "../../store/apply/keys.ts";
import type { RowsStatement, RowValues } from "../sql/dialect.ts";
import type { ApplyQuickly, QuickAnswer, QuickBatch, QuickCommit } from "../sql/quick-write.ts";
import { endingColumns, endingValues } from "../sql/rows/ending-row.ts";
import { instanceColumns, instanceValues } from "../sql/rows/instance-row.ts";
import { logColumns, logValues } from "../sql/rows/log-row.ts";
import { integer, type SqlRow } from "../sql/rows/row.ts";
import { runColumns, runValues } from "../sql/rows/run-row.ts";
import { stepColumns, stepValues } from "../sql/rows/step-row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Database, Statement } from "../sql/session.ts";
import { isMarked } from "./exchange.ts";
import { fences } from "./fence.ts";
import { appendLogRows, insertRows, updateRows } from "./rows.ts";
import { putFencedStepRows } from "./step-rows.ts";

export function quickWrites(names: TableNames): ApplyQuickly {
  const fence = fences(names);
  const stepRows = putFencedStepRows(names, stepColumns);
  const writers: readonly (readonly [RowsStatement, (batch: QuickBatch) => readonly RowValues[]])[] = [
    [insertRows(names, "instance", instanceColumns), newInstances],
    [insertRows(names, "run", runColumns), newRuns],
    [
      updateRows(names, "event", ["run", "seq"], ["delivered_at", "consumed_by"], "t.delivered_at IS NULL"),
      consumedEvents,
    ],
    [appendLogRows(names, logColumns), newLogs],
    [insertRows(names, "ending", endingColumns), newEndings],
  ];
  const close = `UPDATE ${names.step} s FORCE INDEX (\`open\`) SET s.is_open = 0 WHERE s.run IN (?) AND s.is_open = 1`;

  /** The fence, and what fails when it let not all of them pass: the first step, or a check of its own. */
  const fenced = (batch: QuickBatch): readonly Statement[] => {
    const { commits, now } = batch;
    const steps = newSteps(batch);
    const check = { fenced: commits.length, areNew: commits.every(({ steps: put }) => put.every(isNew)) };
    const pass = commits.length === 0 ? [] : [fence.pass(commits, now)];
    if (steps.length > 0) return [...pass, stepRows(steps, check)];
    return commits.length === 0 ? pass : [...pass, fence.requireAll(commits.length)];
  };

  const statementsOf = (batch: QuickBatch): readonly Statement[] => {
    const ended = batch.commits.filter(({ ending }) => ending !== null).map(({ run }) => run);
    return [
      ...fenced(batch),
      ...writers.flatMap(([statement, rowsOf]) => {
        const rows = rowsOf(batch);
        return rows.length === 0 ? [] : [statement(rows)];
      }),
      ...(ended.length === 0 ? [] : [{ sql: close, values: [ended] }]),
    ];
  };

  /** Read behind the commit: what came since then counts as well. Whoever could not be told repeats the commit. */
  const eventsOf = async (
    database: Database,
    commits: readonly QuickCommit[],
  ): Promise<readonly SqlRow[]> => {
    const runs = commits.map(({ run }) => run);
    const [newest] = await database.run([fence.newestEvents(runs)]).catch((error: unknown) => {
      throw afterPart(error);
    });
    return newest?.rows ?? [];
  };

  return async (database, batch) => {
    const { commits, creations } = batch;
    try {
      const [passed] = await database.transact((tx) => tx.commit(statementsOf(batch)));
      const committed = new Map(commits.map(({ run, request }) => [run, request.boundary.eventSeqSeen]));
      if (commits.length > 0 && isMarked(passed)) {
        for (const row of await eventsOf(database, commits))
          committed.set(integer(row, "id"), integer(row, "event_seq"));
      }
      return { committed, created: new Set(creations.runs.keys()), existing: new Map() };
    } catch (error) {
      if (wasRefused(error)) return nothingApplied;
      throw error;
    }
  };
}

const nothingApplied: QuickAnswer = { committed: new Map(), created: new Set(), existing: new Map() };

/** A step of this kind has not been waiting before, or very rarely so. */
function isNew(step: StepRecord): boolean {
  return step.type === "do" && step.status !== "waiting" && step.attempts <= 1;
}

/** One did not pass the fence, a name or a step is there already, or it is more at once than the server accepts. */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { failure, details } = error;
  return failure === "constraint" || failure === "too-large" || unpassed.has(details?.code);
}

/** What the two checks behind the fence fail with. */
const unpassed: ReadonlySet<unknown> = new Set(["ER_BAD_NULL_ERROR", "ER_SUBQUERY_NO_1_ROW"]);

/** By name, as everybody takes them. */
function newInstances({ creations: { runs } }: QuickBatch): readonly RowValues[] {
  const named = [...runs.values()].flatMap(({ row, instance }) =>
    instance.request === null
      ? []
      : [{ key: nameKey(instance), values: instanceValues(instance.id, row.run, instance.request) }],
  );
  named.sort((a, b) => (a.key < b.key ? -1 : 1));
  return named.map(({ values }) => values);
}

function newRuns({ creations: { runs } }: QuickBatch): readonly RowValues[] {
  return [...runs.values()].map(({ row }) => runValues(row));
}

function newSteps({ commits, creations: { runs } }: QuickBatch): readonly RowValues[] {
  const rows: RowValues[] = [];
  for (const { run, steps } of commits) for (const step of steps) rows.push(stepValues(run, step));
  for (const { row, stepPuts } of runs.values()) {
    for (const step of stepPuts.values()) rows.push(stepValues(row.run, step));
  }
  return rows;
}

function consumedEvents({ commits, now }: QuickBatch): readonly RowValues[] {
  return commits.flatMap(({ run, request: { boundary } }) => {
    // The first who takes an event has it.
    const takers = new Map(boundary.consumed.toReversed().map(({ seq, stepKey }) => [seq, stepKey]));
    return [...takers].map(([seq, stepKey]) => [run, seq, now, stepKey]);
  });
}

/** Their sequence counts from the end: only the run's row knows how many lines there were before. */
function newLogs({ commits }: QuickBatch): readonly RowValues[] {
  return commits.flatMap(({ run, request: { boundary } }) =>
    boundary.logs.map((line, n) => logValues(run, boundary.logs.length - 1 - n, line)),
  );
}

function newEndings({ commits, now }: QuickBatch): readonly RowValues[] {
  return commits.flatMap(({ run, ending }) => (ending === null ? [] : [endingValues(run, ending, now)]));
}
