/** A person's decisions about an instance, and requests about a run's task alone. */
import type {
  AbandonOutcome,
  AbandonRequest,
  Change,
  ChangeOutcome,
  ChangeRequest,
  WakeOutcome,
  WakeRequest,
} from "../../store/store.ts";
import { lanes } from "./lane.ts";
import { addNextRun, planUnheardCreate } from "./plan-create.ts";
import { runKey } from "./run-key.ts";
import type { WorkingRun } from "./working-run.ts";
import { changeKey, type WorkingSet } from "./working-set.ts";

export function planChange(set: WorkingSet, request: ChangeRequest, now: number): ChangeOutcome {
  const run = set.find(request);
  if (run === undefined) return { kind: "not-found" };
  const key = changeKey(request, request.id);
  const made = set.changes.get(key);
  if (made !== undefined) return made;
  const { status, runNumber, instance } = run.row;
  const { when } = request;
  const { runNumber: meantNumber = runNumber, token: meantToken = run.row.token } = when;
  const isMeant = meantNumber === runNumber && meantToken === run.row.token;
  if (!isMeant || !when.statuses.includes(status)) return { kind: "refused", status, runNumber };

  const leased = run.isLeaseInForce(now);
  const changed = apply(set, run, request.change, now);
  if (request.logs) changed.addLogs(request.logs);
  const { row } = changed;
  if (request.announce) planUnheardCreate(set, request.announce, now);
  const outcome: ChangeOutcome = {
    kind: "changed",
    runId: row.run,
    status: row.status,
    runNumber: row.runNumber,
    leased,
  };
  set.changes.set(key, outcome);
  set.newChanges.push({ instance, id: request.id, outcome });
  set.news.changed = true;
  // Only these make a run due.
  if (row.lane !== null) set.news.due = true;
  return outcome;
}

/** Gives the run that is current afterwards. */
function apply(set: WorkingSet, run: WorkingRun, change: Change, now: number): WorkingRun {
  switch (change.kind) {
    case "pause":
      run.pause(now);
      return run;
    case "resume":
      return resume(run, change.shiftDeadlines, now);
    case "terminate":
      run.endByForce(change, now);
      set.news.ended = true;
      return run;
    case "restart":
      return restart(set, run, change, now);
    case "retryStep":
      return retryStep(run, change, now);
  }
}

function resume(run: WorkingRun, shiftDeadlines: boolean, now: number): WorkingRun {
  const { pausedAt, token } = run.row;
  if (shiftDeadlines && pausedAt !== null) run.shiftWaits(Math.max(0, now - pausedAt));
  // A lease that ran out meanwhile was never given back: it stays one that ran out, and its claim counts a crash.
  const lane = run.isLeased ? lanes.held : lanes.resuming;
  const isInForce = run.isLeaseInForce(now);
  run.change({ status: "active", pausedAt: null, updatedAt: now, lane });
  if (isInForce) return run;
  // Waits were moved: a turn that some runner kept in memory must not go on with the old ones.
  run.change({ kind: "resume", dueAt: now, token: shiftDeadlines ? token + 1 : token });
  return run;
}

function restart(
  set: WorkingSet,
  run: WorkingRun,
  { history }: Change & { readonly kind: "restart" },
  now: number,
): WorkingRun {
  const token = run.row.token + 1;
  if (!run.hasEnded) {
    // It moves to the new token too, so that not even a repeat of its last commit is taken for success any more.
    run.endByForce({ kind: "terminate", reason: { source: "restarted", message: null } }, now);
    set.news.ended = true;
  }
  run.change({ isCurrent: false, pruneAt: null });
  return addNextRun(set, run, { token, history }, now);
}

/** The one way out of `errored` within a run. */
function retryStep(
  run: WorkingRun,
  change: Change & { readonly kind: "retryStep" },
  now: number,
): WorkingRun {
  for (const index of change.drop) run.dropStep(index);
  if (change.reopen) {
    // What has settled is never replaced, so the failed record gives way first.
    run.dropStep(change.reopen.index);
    run.putStep(change.reopen);
  }
  run.releaseEvents(change.releaseEventsOf);
  run.goOnAfterEnd();
  run.change({
    status: "active",
    token: run.row.token + 1,
    lastCommit: 0,
    crashCount: 0,
    deadLetter: false,
    pruneAt: null,
    begun: null,
    updatedAt: now,
  });
  run.giveBack("retry", change.dueAt);
  return run;
}

export function planWake(set: WorkingSet, { runId, token }: WakeRequest, now: number): WakeOutcome {
  const run = set.runs.get(runKey(runId));
  if (run === undefined || run.row.token !== token || run.row.lane === null || run.isLeased)
    return { kind: "ignored" };
  run.makeDue("wake", now);
  set.news.due = true;
  return { kind: "woken" };
}

export function planAbandon(set: WorkingSet, { owner, fate }: AbandonRequest, now: number): AbandonOutcome {
  const left = [...set.runs.values()].filter((run) => run.row.owner === owner && !run.hasEnded);
  if (fate.kind === "error") {
    for (const run of left) run.endByForce({ kind: "error", error: fate.error, deadLetter: false }, now);
    if (left.length > 0) set.news.ended = true;
    return { kind: "abandoned", runs: left.length };
  }
  const leased = left.filter((run) => run.isLeased);
  if (fate.kind === "release") {
    const unheard = leased.filter((run) => run.row.token === fate.token);
    for (const run of unheard) run.giveBack("resume", now);
    if (unheard.length > 0) set.news.due = true;
    return { kind: "abandoned", runs: unheard.length };
  }
  // Still leased, but over: the next claim sees a lease that ran out and counts the crash.
  for (const run of leased) run.change({ dueAt: Math.min(run.row.dueAt, now) });
  if (leased.length > 0) set.news.due = true;
  return { kind: "abandoned", runs: leased.length };
}
