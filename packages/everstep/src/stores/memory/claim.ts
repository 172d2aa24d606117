import type { Claim, LeftRun } from "../../model/lease.ts";
import { claimed } from "../../store/apply/apply-lease.ts";
import { isInForce } from "../../store/apply/moves.ts";
import type { ClaimRequest } from "../../store/index.ts";
import type { MemoryDatabase, Workflow } from "./database.ts";
import { isBefore } from "./due-queue.ts";
import type { Run } from "./run.ts";

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
    const { waitingSince } = run.row;
    const { move, left } = claimed(run.row, request);
    database.put(run, { ...run.row, ...move });
    return claimOf(run, waitingSince, left);
  });
}

/** What a runner is told about the run it now holds. */
function claimOf({ row, instance }: Run, waitingSince: number | null, left: LeftRun): Claim {
  return {
    workflowName: instance.workflowName,
    instanceId: instance.instanceId,
    lease: { runId: row.run, token: row.token, owner: row.owner as string, expiresAt: row.dueAt },
    runNumber: row.runNumber,
    params: instance.params,
    createdAt: instance.createdAt,
    startedAt: row.startedAt as number,
    deadlineAt: instance.deadlineAt,
    waitingSince,
    fresh: !row.recorded,
    eventSeq: row.eventSeq,
    begun: row.begun,
    crashCount: row.crashCount,
    left,
  };
}

function freePlaces(workflow: Workflow, concurrency: number | null, now: number): number {
  if (concurrency === null) return Number.POSITIVE_INFINITY;
  let held = 0;
  for (const run of workflow.leased) if (isInForce(run.row, now)) held += 1;
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
      if (run === undefined || run.row.dueAt > now) continue;
      if (first === undefined || isBefore(run, first.run)) first = { run, room };
    }
    if (first !== undefined) return first;
  }
  return undefined;
}
