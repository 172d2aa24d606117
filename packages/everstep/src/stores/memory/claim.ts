import { type Claim, crashesAfter, type LeftRun, provesCrash } from "../../model/lease.ts";
import type { ClaimRequest } from "../../store/index.ts";
import type { MemoryDatabase, Workflow } from "./database.ts";
import { isBefore } from "./due-queue.ts";
import type { Run } from "./run.ts";
import { lease, leaseInForce } from "./run.ts";

/** A workflow that is asked for, and how many of its runs may still be leased. */
interface Room {
  readonly workflow: Workflow;
  free: number;
}

export function claim(database: MemoryDatabase, request: ClaimRequest): readonly Claim[] {
  const rooms = request.workflows.flatMap(({ name, concurrency }): Room[] => {
    const workflow = database.workflows.get(name);
    return workflow === undefined ? [] : [{ workflow, free: freePlaces(workflow, concurrency, request.now) }];
  });
  const picked = pickDue(rooms, request);
  return picked.map((run) => {
    const { waitingSince } = run;
    const left: LeftRun = { token: run.token, commit: run.lastCommit, ranOut: run.leased };
    if (run.leased && provesCrash(run.dueAt, request))
      run.crashCount = crashesAfter(run.crashCount, run.lastCommit);
    lease(database, run, { ...request, until: request.leaseUntil }, request.now);
    return claimOf(run, waitingSince, left);
  });
}

/** What a runner is told about the run it now holds. */
export function claimOf(run: Run, waitingSince: number | null, left: LeftRun): Claim {
  const { instance } = run;
  return {
    workflowName: instance.workflowName,
    instanceId: instance.instanceId,
    lease: { runId: run.id, token: run.token, owner: run.owner as string, expiresAt: run.dueAt },
    runNumber: run.number,
    params: instance.params,
    createdAt: instance.createdAt,
    startedAt: run.startedAt as number,
    deadlineAt: instance.deadlineAt,
    waitingSince,
    fresh: !run.touched,
    eventSeq: run.eventSeq,
    begun: run.begun,
    crashCount: run.crashCount,
    left,
  };
}

function freePlaces(workflow: Workflow, concurrency: number | null, now: number): number {
  if (concurrency === null) return Number.POSITIVE_INFINITY;
  let held = 0;
  for (const run of workflow.leased) if (leaseInForce(run, now)) held += 1;
  return concurrency - held;
}

/** Takes due runs out of the queues, up to the limit. */
function pickDue(rooms: readonly Room[], request: ClaimRequest): readonly Run[] {
  const picked: Run[] = [];
  while (picked.length < request.limit) {
    const next = firstDue(rooms, request.now);
    if (next === undefined) break;
    const { run, room } = next;
    run.queue?.remove(run);
    room.free -= 1;
    picked.push(run);
  }
  return picked;
}

function firstDue(rooms: readonly Room[], now: number): { run: Run; room: Room } | undefined {
  for (const queue of ["resumes", "starts"] as const) {
    let first: { run: Run; room: Room } | undefined;
    for (const room of rooms) {
      const run = room.free > 0 ? room.workflow[queue].first : undefined;
      if (run === undefined || run.dueAt > now) continue;
      if (first === undefined || isBefore(run, first.run)) first = { run, room };
    }
    if (first !== undefined) return first;
  }
  return undefined;
}
