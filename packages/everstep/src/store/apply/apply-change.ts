/** What a person's decision does to an instance. */
import type { Change, ChangeOutcome, ChangeRequest } from "../store.ts";
import { addNextRun, applyUnheardCreate } from "./apply-create.ts";
import { changeKey } from "./keys.ts";
import { isInForce, paused, replaced, resumed, retried } from "./moves.ts";
import type { WorkingRun } from "./working-run.ts";
import type { WorkingSet } from "./working-set.ts";

export function applyChange(set: WorkingSet, request: ChangeRequest, now: number): ChangeOutcome {
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

  const leased = isInForce(run.row, now);
  const changed = make(set, run, request.change, now);
  if (request.logs) changed.addLogs(request.logs);
  const { row } = changed;
  if (request.announce) applyUnheardCreate(set, request.announce, now);
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
function make(set: WorkingSet, run: WorkingRun, change: Change, now: number): WorkingRun {
  switch (change.kind) {
    case "pause":
      run.change(paused(run.row, now));
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
  // Waits were moved: a turn that some runner kept in memory must not go on with the old ones.
  const isMoved = shiftDeadlines && !isInForce(run.row, now);
  run.change({ ...resumed(run.row, now), token: isMoved ? token + 1 : token });
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
  run.change(replaced);
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
  run.change(retried(run.row, change.dueAt, now));
  return run;
}
