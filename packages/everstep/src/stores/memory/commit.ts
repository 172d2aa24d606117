import { type Boundary, heardOfLost, type Next, numberBefore } from "../../model/boundary.ts";
import { isTerminal } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type { CommitOutcome, CommitRequest } from "../../store/index.ts";
import { undeliveredLines } from "../../store/undelivered.ts";
import { runMutations } from "./author-rows.ts";
import { create } from "./create.ts";
import type { MemoryDatabase } from "./database.ts";
import { detached } from "./detached.ts";
import { sendEvent } from "./events.ts";
import type { Ending, Run } from "./run.ts";
import { addLogs, currentRun, end, extendLease, giveBack } from "./run.ts";
import { eventIsThere } from "./wait.ts";

export function commit(database: MemoryDatabase, request: CommitRequest, now: number): CommitOutcome {
  const { lease, boundary } = request;
  const run = database.runs.get(lease.runId);
  // The token alone decides, never the time (INV-5).
  if (run === undefined || run.token !== lease.token) return { kind: "superseded" };
  // Before the lease is looked at: the commit that gave it back may be repeated too.
  if (boundary.number === run.lastCommit) return repeated(run, boundary);
  if (!run.leased || isTerminal(run.status) || run !== currentRun(run.instance))
    return { kind: "superseded" };
  if (numberBefore(boundary) !== run.lastCommit) return { kind: "superseded" };
  if (heardOfLost(boundary, (seq) => run.events.get(seq)?.id)) return { kind: "superseded" };

  if (request.mutations !== null) {
    const refused = runMutations(database.authorRows, request.mutations);
    if (refused !== undefined) return refused;
  }
  record(database, run, boundary, now);
  const timeoutsRefused = !settleTimeouts(database, run, boundary);
  sendAlongside(database, run, request, now);
  if (run.status === "paused") {
    stayPaused(database, run, request);
    return { kind: "paused", eventSeq: run.eventSeq, timeoutsRefused };
  }
  const dueNow = goOn(database, run, request, timeoutsRefused, now);
  if (request.announce && isTerminal(run.status)) create(database, { ...request.announce, lease: null }, now);
  return { kind: "committed", eventSeq: run.eventSeq, timeoutsRefused, dueNow };
}

/**
 * The answer to a number that was applied before. It must not promise more than is true: timeouts that were refused are
 * still open, in a paused run nothing more may begin, and an end that a pause dropped is no end.
 */
function repeated(run: Run, boundary: Boundary): CommitOutcome {
  const timeoutsRefused = boundary.timeouts.some(({ wait }) => run.open.has(wait.index));
  if (run.status === "paused") return { kind: "paused", eventSeq: run.eventSeq, timeoutsRefused };
  if (isEnding(boundary.next) && !isTerminal(run.status)) return { kind: "superseded" };
  return { kind: "committed", eventSeq: run.eventSeq, timeoutsRefused, dueNow: false };
}

function record(database: MemoryDatabase, run: Run, boundary: Boundary, now: number): void {
  run.lastCommit = boundary.number;
  run.touched = true;
  if (!boundary.noProgress) run.crashCount = 0;
  run.begun = detached(boundary.begun);
  for (const step of boundary.steps) writeStep(database, run, step);
  for (const { seq, stepKey } of boundary.consumed) {
    const event = run.undelivered.get(seq);
    if (event !== undefined) database.putEvent(run, { ...event, deliveredAt: now, consumedBy: stepKey });
  }
  addLogs(run, boundary.logs);
}

/** A settled step is written once: its first record stays (INV-7). */
function writeStep(database: MemoryDatabase, run: Run, step: StepRecord): void {
  const known = run.steps.get(step.index);
  if (known === undefined || known.status === "waiting") database.putStep(run, step);
}

/** All of the boundary's timeouts, or none when an event the turn has not seen came in time (INV-26). */
function settleTimeouts(database: MemoryDatabase, run: Run, { timeouts, eventSeqSeen }: Boundary): boolean {
  const waits = timeouts.map(({ wait }) => wait);
  if (eventIsThere(run, waits, eventSeqSeen)) return false;
  for (const { settled } of timeouts) writeStep(database, run, settled);
  return true;
}

function sendAlongside(database: MemoryDatabase, run: Run, { alongside }: CommitRequest, now: number): void {
  for (const request of alongside) {
    // Nobody would hear of a lease handed out here.
    if (request.kind === "create") create(database, { ...request, lease: null }, now);
    else addLogs(run, undeliveredLines(request, sendEvent(database, request, now)));
  }
}

/** A pause outlives whatever the turn wanted next; the wake time is kept, resume makes the run due anyway. */
function stayPaused(
  database: MemoryDatabase,
  run: Run,
  { boundary: { next }, leaseUntil }: CommitRequest,
): void {
  if (next.kind === "continue") extendLease(database, run, leaseUntil);
  else if (next.kind === "suspend") giveBack(database, run, next.task, next.dueAt);
  else giveBack(database, run, "resume", run.dueAt);
}

/** Does what comes next; true when the run was to wait but is due now. */
function goOn(
  database: MemoryDatabase,
  run: Run,
  { boundary, leaseUntil }: CommitRequest,
  timeoutsRefused: boolean,
  now: number,
): boolean {
  const { next } = boundary;
  switch (next.kind) {
    case "continue":
      extendLease(database, run, leaseUntil);
      return false;
    case "suspend": {
      // Registering a wait and looking for its event are one operation, so no wake-up is lost in between (INV-23).
      const dueNow = timeoutsRefused || eventIsThere(run, run.open.values(), boundary.eventSeqSeen);
      run.status = "waiting";
      run.waitingSince = now;
      run.updatedAt = now;
      giveBack(database, run, next.task, dueNow ? now : next.dueAt);
      return dueNow;
    }
    case "yield":
      run.updatedAt = now;
      giveBack(database, run, "resume", next.dueAt);
      return false;
    default:
      end(database, run, detached(endingOf(next)), now);
      return false;
  }
}

type EndingNext = Extract<Next, { kind: "complete" | "error" | "terminate" }>;

function isEnding(next: Next): next is EndingNext {
  return next.kind === "complete" || next.kind === "error" || next.kind === "terminate";
}

function endingOf(next: EndingNext): Ending {
  switch (next.kind) {
    case "complete":
      return { status: "complete", output: next.output };
    case "error":
      return { status: "errored", error: next.error, deadLetter: next.deadLetter };
    case "terminate":
      return { status: "terminated", reason: next.reason };
  }
}
