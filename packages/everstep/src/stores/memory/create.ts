import type { CreateOutcome, CreateRequest } from "../../store/index.ts";
import { claimOf } from "./claim.ts";
import type { MemoryDatabase } from "./database.ts";
import { detached } from "./detached.ts";
import type { Instance } from "./run.ts";
import { addRun, currentRun, lease } from "./run.ts";

export function create(database: MemoryDatabase, request: CreateRequest, now: number): CreateOutcome {
  const existing = database.find(request);
  if (existing !== undefined) {
    const { status, number } = currentRun(existing);
    return { kind: "exists", status, runNumber: number };
  }
  const run = addRun(database, addInstance(database, request), { ...request, token: 0 }, now);
  if (request.lease === null) return { kind: "created", runId: run.id, claim: null };
  lease(database, run, request.lease, now);
  const left = { token: 0, commit: 0, ranOut: false };
  return { kind: "created", runId: run.id, claim: claimOf(run, null, left) };
}

function addInstance(database: MemoryDatabase, request: CreateRequest): Instance {
  const workflow = database.workflow(request.workflowName);
  database.lastSerial += 1;
  const instance: Instance = {
    workflow,
    serial: database.lastSerial,
    workflowName: request.workflowName,
    instanceId: request.instanceId,
    params: detached(request.params),
    createdAt: request.createdAt,
    deadlineAt: request.deadlineAt,
    retentionMs: request.retentionMs,
    parent: detached(request.parent),
    runs: [],
    changes: new Map(),
  };
  workflow.instances.set(request.instanceId, instance);
  return instance;
}
