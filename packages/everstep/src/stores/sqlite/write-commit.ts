/**
 * The commit: fence, the author's mutations, new rows, and last the hot row. Read first and then written, because in an
 * immediate transaction nothing changes in between, and a read by key costs less than UPDATE ... RETURNING. What is
 * plain needs no read (quick-commit.ts).
 */
import { type Boundary, heardOfLost, type Next, numberBefore } from "../../model/boundary.ts";
import type { LogLine } from "../../model/log-line.ts";
import type { CommitOutcome, CommitRequest } from "../../store/store.ts";
import { undeliveredLines } from "../../store/undelivered.ts";
import { type CommitRows, commitRows } from "./commit-rows.ts";
import type { Connection } from "./connection.ts";
import type { Ending, Endings } from "./endings.ts";
import { type HotRow, type HotRows, hasEnded, hasLease } from "./hot-row.ts";
import { appendsLogs } from "./log-rows.ts";
import type { RunMutations } from "./mutations.ts";
import { quickCommits } from "./quick-commit.ts";
import { anyEnds, type Steps } from "./steps.ts";
import type { Create } from "./write-create.ts";
import type { SendEvent } from "./write-events.ts";

export type Commit = (request: CommitRequest, now: number) => CommitOutcome;

export interface CommitParts {
  readonly hot: HotRows;
  readonly steps: Steps;
  readonly endings: Endings;
  readonly create: Create;
  readonly sendEvent: SendEvent;
  readonly mutate: RunMutations;
}

export function commits(connection: Connection, parts: CommitParts): Commit {
  const { hot, steps, mutate } = parts;
  const rows = commitRows(connection, parts.endings);
  const quick = quickCommits(connection, steps, parts.endings);
  const append = appendsLogs(connection);

  /** Gives the run's row as it is afterwards. */
  const sendAlongside = ({ alongside }: CommitRequest, before: HotRow, now: number): HotRow => {
    const row = (): HotRow => hot.byRun(before.run) ?? before;
    for (const each of alongside) {
      // Nobody would hear of a lease handed out here.
      if (each.kind === "create") parts.create({ ...each, lease: null }, now);
      else {
        const lines = undeliveredLines(each, parts.sendEvent(each, now));
        if (lines.length > 0) append(row(), lines);
      }
    }
    return row();
  };

  return (request, now) => {
    const committed = quick(request, now);
    if (committed !== null) return committed;
    const { lease } = request;
    let { boundary } = request;
    let row = hot.byRun(lease.runId);
    if (row === undefined || row.token !== lease.token) return { kind: "superseded" };
    if (boundary.number === row.lastCommit) return answerAgain(steps, row, boundary);
    if (!hasLease(row) || hasEnded(row) || numberBefore(boundary) !== row.lastCommit)
      return { kind: "superseded" };
    const { run } = row;
    if (heardOfLost(boundary, (seq) => rows.eventIdAt(run, seq))) return { kind: "superseded" };

    if (request.mutations !== null) mutate(request.mutations);
    for (const { seq, stepKey } of boundary.consumed) rows.consume(run, seq, stepKey, now);
    const timeoutsRefused = hasEventForTimeout(steps, row, boundary);
    putSteps(steps, row, boundary, timeoutsRefused);
    if (request.alongside.length === 0) rows.log(row, boundary);
    else {
      // Logged before the rest: events may log something too, and may be for the run itself.
      append(row, boundary.logs);
      boundary = { ...boundary, logs: none };
      row = sendAlongside(request, row, now);
    }
    const { eventSeq } = row;

    const paused = row.status === "paused";
    const dueNow = !paused && isDueNow(steps, run, eventSeq, boundary, timeoutsRefused);
    if (boundary.next.kind === "continue") rows.goOn(row, boundary, request.leaseUntil, now);
    else if (paused) rows.stayPaused(row, boundary, now);
    else moveOn(rows, row, boundary, boundary.next, dueNow, now);
    if (request.announce && !paused && isEnding(boundary.next)) {
      parts.create({ ...request.announce, lease: null }, now);
    }
    return answer(eventSeq, paused, timeoutsRefused, dueNow);
  };
}

const none: readonly LogLine[] = [];

function isEnding(next: Next): next is Ending {
  return next.kind === "complete" || next.kind === "error" || next.kind === "terminate";
}

function moveOn(
  rows: CommitRows,
  row: HotRow,
  boundary: Boundary,
  next: Exclude<Next, { kind: "continue" }>,
  dueNow: boolean,
  now: number,
): void {
  switch (next.kind) {
    case "suspend":
      return rows.suspend(row, boundary, dueNow ? now : next.dueAt, next.task, now);
    case "yield":
      return rows.giveWay(row, boundary, next.dueAt, now);
    default:
      return rows.finish(row, boundary, next satisfies Ending, now);
  }
}

function putSteps(steps: Steps, row: HotRow, boundary: Boundary, timeoutsRefused: boolean): void {
  for (const step of boundary.steps) steps.put(row.run, step);
  if (timeoutsRefused) return;
  for (const timeout of boundary.timeouts) steps.put(row.run, timeout.settled);
}

/** Looking for events and recording what follows from their absence are one operation: nobody can send in between. */
function hasEventForTimeout(steps: Steps, row: HotRow, { timeouts, eventSeqSeen }: Boundary): boolean {
  if (timeouts.length === 0 || row.eventSeq <= eventSeqSeen) return false;
  return anyEnds(
    steps.newerEvents(row.run, eventSeqSeen),
    timeouts.map((timeout) => timeout.wait),
  );
}

function isDueNow(
  steps: Steps,
  run: number,
  eventSeq: number,
  { next, eventSeqSeen }: Boundary,
  timeoutsRefused: boolean,
): boolean {
  if (next.kind !== "suspend") return false;
  if (timeoutsRefused) return true;
  return eventSeq > eventSeqSeen && anyEnds(steps.newerEvents(run, eventSeqSeen), steps.openWaits(run));
}

/**
 * The boundary was applied before and its answer got lost. It must not promise more than is true: a timeout that is
 * still a wait was refused then, and an end that a pause dropped is no end.
 */
function answerAgain(steps: Steps, row: HotRow, { timeouts, next }: Boundary): CommitOutcome {
  const timeoutsRefused = timeouts.some(({ wait }) => steps.isWaiting(row.run, wait.index));
  if (isEnding(next) && row.status !== "paused" && !hasEnded(row)) return { kind: "superseded" };
  return answer(row.eventSeq, row.status === "paused", timeoutsRefused, false);
}

function answer(eventSeq: number, paused: boolean, timeoutsRefused: boolean, dueNow: boolean): CommitOutcome {
  return paused
    ? { kind: "paused", eventSeq, timeoutsRefused }
    : { kind: "committed", eventSeq, timeoutsRefused, dueNow };
}
