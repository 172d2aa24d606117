import type { Claim } from "../model/lease.ts";
import type { CreateRequest } from "../model/request.ts";

/** What is known of a run that begins its life in the hands of a runner; null when nobody asked for it. */
export function firstClaim(request: CreateRequest, runId: number, now: number): Claim | null {
  const { lease, params } = request;
  if (lease === null) return null;
  return {
    workflowName: request.workflowName,
    instanceId: request.instanceId,
    lease: { runId, token: lease.token, owner: lease.owner, expiresAt: lease.until },
    runNumber: 1,
    params: { json: params.json, marks: params.marks },
    createdAt: request.createdAt,
    startedAt: now,
    deadlineAt: request.deadlineAt,
    waitingSince: null,
    fresh: request.history.length === 0,
    eventSeq: 0,
    begun: [],
    crashCount: 0,
    left: { token: 0, commit: 0, ranOut: false },
  };
}
