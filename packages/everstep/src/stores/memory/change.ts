import { isTerminal } from "../../model/instance.ts";
import type { Change, ChangeOutcome, ChangeRequest } from "../../store/index.ts";
import { create } from "./create.ts";
import type { MemoryDatabase } from "./database.ts";
import { detached } from "./detached.ts";
import type { Run } from "./run.ts";
import { addLogs, addRun, currentRun, end, giveBack, leaseInForce } from "./run.ts";

export function change(database: MemoryDatabase, request: ChangeRequest, now: number): ChangeOutcome {
  const instance = database.find(request);
  if (instance === undefined) return { kind: "not-found" };
  const before = instance.changes.get(request.id);
  if (before !== undefined) return before;
  const run = currentRun(instance);
  const { statuses, runNumber = run.number, token = run.token } = request.when;
  if (!statuses.includes(run.status) || runNumber !== run.number || token !== run.token) {
    return { kind: "refused", status: run.status, runNumber: run.number };
  }
  const leased = leaseInForce(run, now);
  const changed = apply(database, run, request.change, now);
  addLogs(changed, request.logs ?? []);
  if (request.announce) create(database, { ...request.announce, lease: null }, now);
  const { id: runId, status, number } = changed;
  const outcome: ChangeOutcome = { kind: "changed", runId, status, runNumber: number, leased };
  instance.changes.set(request.id, outcome);
  return outcome;
}

/** Gives the run that is current afterwards. */
function apply(database: MemoryDatabase, run: Run, made: Change, now: number): Run {
  switch (made.kind) {
    case "pause":
      return pause(database, run, now);
    case "resume":
      return resume(database, run, made.shiftDeadlines, now);
    case "terminate":
      run.token += 1;
      end(database, run, { status: "terminated", reason: detached(made.reason) }, now);
      return run;
    case "restart":
      return restart(database, run, made, now);
    case "retryStep":
      return retryStep(database, run, made, now);
  }
}

function pause(database: MemoryDatabase, run: Run, now: number): Run {
  run.status = "paused";
  run.pausedAt = now;
  run.updatedAt = now;
  database.reschedule(run);
  return run;
}

function resume(database: MemoryDatabase, run: Run, shiftDeadlines: boolean, now: number): Run {
  const pausedMs = Math.max(0, now - (run.pausedAt ?? now));
  run.status = "active";
  run.pausedAt = null;
  run.updatedAt = now;
  if (shiftDeadlines) {
    for (const wait of [...run.open.values()])
      database.putStep(run, { ...wait, wakeAt: wait.wakeAt + pausedMs });
  }
  if (!leaseInForce(run, now)) {
    // Waits were moved: a turn that some runner kept in memory must not go on with the old ones.
    if (shiftDeadlines) run.token += 1;
    // A lease that ran out meanwhile was never given back: it stays one that ran out, and its claim counts a crash.
    run.kind = "resume";
    run.dueAt = now;
  }
  database.reschedule(run);
  return run;
}

function restart(database: MemoryDatabase, run: Run, made: Change & { kind: "restart" }, now: number): Run {
  // The old run moves to it too, so that not even a repeat of its last commit is taken for success any more.
  const token = run.token + 1;
  if (!isTerminal(run.status)) {
    run.token = token;
    end(database, run, { status: "terminated", reason: { source: "restarted", message: null } }, now);
  }
  return addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);
}

function retryStep(
  database: MemoryDatabase,
  run: Run,
  made: Change & { kind: "retryStep" },
  now: number,
): Run {
  for (const index of made.drop) database.dropStep(run, index);
  if (made.reopen) database.putStep(run, made.reopen);
  for (const event of [...run.events.values()]) {
    if (event.consumedBy === null || !made.releaseEventsOf.includes(event.consumedBy)) continue;
    database.putEvent(run, { ...event, deliveredAt: null, consumedBy: null });
  }
  run.status = "active";
  run.token += 1;
  run.lastCommit = 0;
  run.output = null;
  run.error = null;
  run.deadLetter = false;
  run.terminationReason = null;
  run.completedAt = null;
  run.retentionUntil = null;
  run.crashCount = 0;
  run.begun = [];
  run.updatedAt = now;
  giveBack(database, run, "retry", made.dueAt);
  return run;
}
