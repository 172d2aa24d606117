/** What a commit does to its run. The token alone decides whether it may, never the time. */
import { type Boundary, heardOfLost, numberBefore } from "../../model/boundary.ts";
import type { CommitOutcome, CommitRequest } from "../store.ts";
import { undeliveredLines } from "../undelivered.ts";
import { applyUnheardCreate } from "./apply-create.ts";
import { applySendEvent } from "./apply-events.ts";
import { isEnding } from "./ending.ts";
import { committed, suspended, yielded } from "./moves.ts";
import { runKey } from "./run-key.ts";
import type { WorkingRun } from "./working-run.ts";
import type { WorkingSet } from "./working-set.ts";

export function applyCommit(set: WorkingSet, request: CommitRequest, now: number): CommitOutcome {
  const fenced = passFence(set, request);
  if (fenced.kind !== "passed") return fenced;
  const { run } = fenced;
  const { boundary } = request;
  record(run, boundary, now);
  const timeoutsRefused = !settleTimeouts(run, boundary);
  sendAlongside(set, run, request, now);
  if (run.row.status === "paused") {
    stayPaused(run, request);
    return { kind: "paused", eventSeq: run.row.eventSeq, timeoutsRefused };
  }
  const dueNow = goOn(run, request, timeoutsRefused, now);
  if (run.hasEnded) {
    set.news.ended = true;
    if (request.announce) applyUnheardCreate(set, request.announce, now);
  }
  return { kind: "committed", eventSeq: run.row.eventSeq, timeoutsRefused, dueNow };
}

/** The run that may be written to, or the answer: also before an author's code runs for a commit that is lost anyway. */
export function passFence(
  set: WorkingSet,
  { lease, boundary }: CommitRequest,
): { readonly kind: "passed"; readonly run: WorkingRun } | CommitOutcome {
  const run = set.runs.get(runKey(lease.runId));
  if (run === undefined || run.row.token !== lease.token) return { kind: "superseded" };
  const { lastCommit, isCurrent } = run.row;
  // Before the lease is looked at: the commit that gave it back may be repeated too.
  if (boundary.number === lastCommit) return repeated(run, boundary);
  const isNext = numberBefore(boundary) === lastCommit;
  if (heardOfLost(boundary, (seq) => run.idOfEvent(seq))) return { kind: "superseded" };
  return run.isLeased && !run.hasEnded && isCurrent && isNext
    ? { kind: "passed", run }
    : { kind: "superseded" };
}

/**
 * The answer to a number that was applied before. It must not promise more than is true: timeouts that were refused are
 * still open, in a paused run nothing more may begin, and an end that a pause dropped is no end.
 */
function repeated(run: WorkingRun, { timeouts, next }: Boundary): CommitOutcome {
  const { eventSeq, status } = run.row;
  const timeoutsRefused = timeouts.some(({ wait }) => run.waits.has(wait.index));
  if (status === "paused") return { kind: "paused", eventSeq, timeoutsRefused };
  if (isEnding(next) && !run.hasEnded) return { kind: "superseded" };
  return { kind: "committed", eventSeq, timeoutsRefused, dueNow: false };
}

function record(run: WorkingRun, boundary: Boundary, now: number): void {
  run.change(committed(run.row, boundary, now));
  for (const step of boundary.steps) run.putStep(step);
  for (const { seq, stepKey } of boundary.consumed) run.consume(seq, stepKey, now);
  run.addLogs(boundary.logs);
}

/** All of the boundary's timeouts, or none when an event the turn has not seen came in time (INV-26). */
function settleTimeouts(run: WorkingRun, { timeouts, eventSeqSeen }: Boundary): boolean {
  const waits = timeouts.map(({ wait }) => wait);
  if (run.hasEventFor(waits, eventSeqSeen)) return false;
  for (const { settled } of timeouts) run.putStep(settled);
  return true;
}

function sendAlongside(set: WorkingSet, run: WorkingRun, { alongside }: CommitRequest, now: number): void {
  for (const request of alongside) {
    if (request.kind === "create") applyUnheardCreate(set, request, now);
    else run.addLogs(undeliveredLines(request, applySendEvent(set, request, now)));
  }
}

/** A pause outlives whatever the turn wanted next; resume makes the run due and replays to the same point. */
function stayPaused(run: WorkingRun, { boundary: { next }, leaseUntil }: CommitRequest): void {
  if (next.kind === "continue") run.extendLease(leaseUntil);
  else if (next.kind === "suspend") run.giveBack(next.task, next.dueAt);
  else run.giveBack("resume", run.row.dueAt);
}

/** Does what comes next; true when the run was to wait but is due now. */
function goOn(
  run: WorkingRun,
  { boundary, leaseUntil }: CommitRequest,
  timeoutsRefused: boolean,
  now: number,
): boolean {
  const { next, eventSeqSeen } = boundary;
  switch (next.kind) {
    case "continue":
      run.extendLease(leaseUntil);
      return false;
    case "suspend": {
      // Registering a wait and looking for its event are one operation, so no wake-up is lost in between (INV-23).
      const dueNow = timeoutsRefused || run.hasAwaitedEvent(eventSeqSeen);
      run.change(suspended(next.task, dueNow ? now : next.dueAt, now));
      return dueNow;
    }
    case "yield":
      run.change(yielded(next.dueAt));
      return false;
    default:
      run.end(next, now);
      return false;
  }
}
