/** Whether an instance may be deleted, and what others should be told of it. */
import { type InstanceStatus, isTerminal } from "../../model/instance.ts";
import type { DeleteOutcome, DeleteRequest, Nudge } from "../store.ts";
import { runKey } from "./run-key.ts";
import type { WorkingSet } from "./working-set.ts";

/** What is known of an instance by whoever has locked it. */
export interface DeletableInstance {
  readonly firstRun: number;
  /** The current one. */
  readonly run: number;
  readonly runNumber: number;
  readonly status: InstanceStatus;
}

/** A store removes everything it has of the instance when the answer is `deleted`, in the same atomic operation. */
export function decideDelete(
  found: DeletableInstance | undefined,
  { when: { statuses, firstRun } }: DeleteRequest,
): DeleteOutcome {
  if (found === undefined) return { kind: "not-found" };
  // Somebody has deleted the one that was meant and created another: a repeat must not take that one too.
  if (firstRun !== undefined && runKey(firstRun) !== found.firstRun) return { kind: "not-found" };
  const { status, runNumber, run } = found;
  if (statuses !== undefined && !statuses.includes(status)) return { kind: "refused", status, runNumber };
  return { kind: "deleted", runId: run, status };
}

/** A run that had not ended is taken from its runner, frees a place under a cap, and has waiters that look for its end. */
export function newsOfDelete(outcome: DeleteOutcome): Nudge {
  const isDeleted = outcome.kind === "deleted";
  const wasLive = isDeleted && !isTerminal(outcome.status);
  return { due: wasLive, changed: isDeleted, ended: wasLive };
}

export function applyDelete(set: WorkingSet, request: DeleteRequest): DeleteOutcome {
  const run = set.find(request);
  const outcome = decideDelete(run && { ...run.row, firstRun: run.row.instance }, request);
  if (run === undefined || outcome.kind !== "deleted") return outcome;
  set.remove(run.instance);
  const { due, changed, ended } = newsOfDelete(outcome);
  if (due) set.news.due = true;
  if (changed) set.news.changed = true;
  if (ended) set.news.ended = true;
  return outcome;
}
