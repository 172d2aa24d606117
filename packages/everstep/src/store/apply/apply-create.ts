/** What a creation makes: an instance with its first run, and the run that a restart begins. */
import type { StepRecord } from "../../model/step.ts";
import { firstClaim } from "../first-claim.ts";
import type { CreateOutcome, CreateRequest } from "../store.ts";
import { leased, unbegun } from "./moves.ts";
import type { RunRow } from "./run-row.ts";
import type { WorkingRun } from "./working-run.ts";
import type { WorkingInstance, WorkingSet } from "./working-set.ts";

export function applyCreate(set: WorkingSet, request: CreateRequest, now: number): CreateOutcome {
  const existing = set.whatExists(request);
  if (existing !== undefined) return exists(existing);
  const { row } = addFirstRun(set, request, now);
  const { lease } = request;
  if (lease === null) set.news.due = true;
  return {
    kind: "created",
    runId: row.run,
    claim: firstClaim(request, row.run, now),
  };
}

function exists({ status, runNumber }: Pick<RunRow, "status" | "runNumber">): CreateOutcome {
  return { kind: "exists", status, runNumber };
}

/** Nobody would hear of a lease handed out with these. */
export function applyUnheardCreate(set: WorkingSet, request: CreateRequest, now: number): void {
  applyCreate(set, { ...request, lease: null }, now);
}

function addFirstRun(set: WorkingSet, request: CreateRequest, now: number): WorkingRun {
  const { workflowName, instanceId, retentionMs, history } = request;
  const id = set.takeId();
  const instance: WorkingInstance = { id, workflowName, instanceId, retentionMs, request, isMoved: false };
  return withHistory(set.add(firstRow(request, id, now), instance, true), history);
}

/** The first run has the instance's own id. */
export function firstRow(request: CreateRequest, id: number, now: number): RunRow {
  const row: RunRow = {
    ...unbegun,
    run: id,
    instance: id,
    workflow: request.workflowName,
    runNumber: 1,
    previousRun: null,
    createdAt: request.createdAt,
    dueAt: request.dueAt,
    token: 0,
    recorded: request.history.length > 0,
    updatedAt: now,
  };
  if (request.lease !== null) Object.assign(row, leased(row, request.lease, now));
  return row;
}

/** The next run of an instance: nobody holds it under the token of the run before. */
export function addNextRun(
  set: WorkingSet,
  { row: before, instance }: WorkingRun,
  facts: { readonly token: number; readonly history: readonly StepRecord[] },
  now: number,
): WorkingRun {
  instance.isMoved = instance.request === null;
  const row: RunRow = {
    ...unbegun,
    run: set.takeId(),
    instance: before.instance,
    workflow: before.workflow,
    runNumber: before.runNumber + 1,
    previousRun: before.run,
    createdAt: before.createdAt,
    dueAt: now,
    token: facts.token,
    recorded: facts.history.length > 0,
    updatedAt: now,
  };
  return withHistory(set.add(row, instance, true), facts.history);
}

function withHistory(run: WorkingRun, history: readonly StepRecord[]): WorkingRun {
  for (const step of history) run.putStep(step);
  return run;
}
