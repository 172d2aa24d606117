import type { Claim } from "../../model/lease.ts";
import type { ClaimRequest } from "../../store/index.ts";
import type { MemoryDatabase, Workflow } from "./database.ts";
import { isBefore } from "./due-queue.ts";
import type { Run } from "./run.ts";
import { giveBack, lease, leaseInForce } from "./run.ts";

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
  const picked = pickDue(database, rooms, request);
  return picked.map((run) => {
    const { waitingSince } = run;
    lease(database, run, request.owner, request.leaseUntil, request.now);
    return claimOf(run, waitingSince);
  });
}

/** What a runner is told about the run it now holds. */
export function claimOf(run: Run, waitingSince: number | null): Claim {
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
  };
}

function freePlaces(workflow: Workflow, concurrency: number | null, now: number): number {
  if (concurrency === null) return Number.POSITIVE_INFINITY;
  let held = 0;
  for (const run of workflow.leased) if (leaseInForce(run, now)) held += 1;
  return concurrency - held;
}

/** Takes due runs out of the queues, up to the limit; one whose lease ran out may be put back for later instead. */
function pickDue(database: MemoryDatabase, rooms: readonly Room[], request: ClaimRequest): readonly Run[] {
  const picked: Run[] = [];
  while (picked.length < request.limit) {
    const next = firstDue(rooms, request.now);
    if (next === undefined) break;
    const { run, room } = next;
    const delayMs = run.leased ? countCrash(run, request.crashDelaysMs) : 0;
    if (delayMs > 0) {
      giveBack(database, run, "retry", request.now + delayMs);
    } else {
      run.queue?.remove(run);
      room.free -= 1;
      picked.push(run);
    }
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

/** A lease that ran out is a crash: counted here, and answered with the delay before the next try (INV-14). */
function countCrash(run: Run, delaysMs: readonly number[]): number {
  run.crashCount += 1;
  return delaysMs[Math.min(run.crashCount, delaysMs.length) - 1] ?? 0;
}
