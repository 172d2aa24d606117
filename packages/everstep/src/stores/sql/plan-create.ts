import type { StepRecord } from "../../model/step.ts";
import { firstClaim } from "../../store/first-claim.ts";
import type { CreateOutcome, CreateRequest, LeaseOffer } from "../../store/store.ts";
import { lanes } from "./lane.ts";
import type { RunRow } from "./run-row.ts";
import type { WorkingRun } from "./working-run.ts";
import { nameKey, type WorkingInstance, type WorkingSet } from "./working-set.ts";

export function planCreate(set: WorkingSet, request: CreateRequest, now: number): CreateOutcome {
  const run = set.find(request);
  if (run !== undefined) return { kind: "exists", status: run.row.status, runNumber: run.row.runNumber };
  const existing = set.existing.get(nameKey(request));
  if (existing !== undefined) return { kind: "exists", ...existing };

  const { row } = addFirstRun(set, request, now);
  const { lease } = request;
  if (lease === null) set.news.due = true;
  return {
    kind: "created",
    runId: row.run,
    claim: firstClaim(request, row.run, now),
  };
}

/** Nobody would hear of a lease handed out with these. */
export function planUnheardCreate(set: WorkingSet, request: CreateRequest, now: number): void {
  planCreate(set, { ...request, lease: null }, now);
}

function addFirstRun(set: WorkingSet, request: CreateRequest, now: number): WorkingRun {
  const { workflowName, instanceId, retentionMs, lease, history } = request;
  // The first run has the instance's own id.
  const id = set.takeId();
  const instance: WorkingInstance = { id, workflowName, instanceId, retentionMs, request, isMoved: false };
  const row: RunRow = {
    ...unbegun,
    run: id,
    instance: id,
    workflow: workflowName,
    runNumber: 1,
    previousRun: null,
    createdAt: request.createdAt,
    dueAt: request.dueAt,
    token: 0,
    recorded: history.length > 0,
    updatedAt: now,
  };
  if (lease !== null) Object.assign(row, heldAtOnce(lease, now));
  return withHistory(set.add(row, instance, true), history);
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

const unbegun = {
  isCurrent: true,
  status: "active",
  kind: "run",
  lane: lanes.starting,
  owner: null,
  lastCommit: 0,
  eventSeq: 0,
  logSeq: 0,
  crashCount: 0,
  deadLetter: false,
  startedAt: null,
  waitingSince: null,
  pausedAt: null,
  pruneAt: null,
  begun: null,
} as const;

function heldAtOnce({ owner, token, until }: LeaseOffer, now: number): Partial<RunRow> {
  return { kind: "resume", lane: lanes.held, owner, dueAt: until, token, startedAt: now };
}

function withHistory(run: WorkingRun, history: readonly StepRecord[]): WorkingRun {
  for (const step of history) run.putStep(step);
  return run;
}
