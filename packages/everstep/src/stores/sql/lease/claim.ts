/** Hands out due runs, in as many rounds as it takes: runs whose rows are damaged are moved aside. */
import type { Claim } from "../../../model/lease.ts";
import { lanes } from "../../../store/apply/lane.ts";
import type { ClaimRequest } from "../../../store/store.ts";
import type { Dialect } from "../dialect.ts";
import { readBegun, readValue } from "../rows/json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, text } from "../rows/row.ts";
import type { Database } from "../session.ts";
import { repeatedly } from "../write/look-again.ts";

export type ClaimRuns = (request: ClaimRequest) => Promise<readonly Claim[]>;

const roundsMax = 16;

export function claims(database: Database, dialect: Dialect): ClaimRuns {
  const moveAside = asideMover(database, dialect);

  /** Adds what is handed out to `taken`; false when there is nothing more to look for. */
  const takeRound = async (request: ClaimRequest, taken: Claim[]): Promise<boolean> => {
    const limit = request.limit - taken.length;
    const rows = await repeatedly(() => dialect.claim(database, { ...request, limit }));
    const read = rows.map((row) => readIfSound(row, request));
    taken.push(...read.filter((claim) => claim !== undefined));
    const damaged = rows.filter((_row, n) => read[n] === undefined);
    if (damaged.length > 0) await moveAside(damaged.map((row) => integer(row, "run")));
    return damaged.length > 0;
  };

  return async (request) => {
    const taken: Claim[] = [];
    try {
      for (let round = 1; round <= roundsMax && taken.length < request.limit; round += 1) {
        if (!(await takeRound(request, taken))) break;
      }
    } catch (error) {
      // Whoever were told that it failed would not know of the leases they hold; what is wrong is met again soon enough.
      if (taken.length === 0) throw error;
    }
    return taken;
  };
}

/** Which of two runs that are due is handed out first: starts come last, and a lease that ran out is work under way. */
export function inClaimOrder(a: DueRun, b: DueRun): number {
  const starts = Number(a.lane === lanes.starting) - Number(b.lane === lanes.starting);
  return starts || a.dueAt - b.dueAt || a.run - b.run;
}

interface DueRun {
  readonly run: number;
  readonly lane: number;
  readonly dueAt: number;
}

/** `crashesAfter` and `provesCrash`, as an expression over the row of a run that is claimed. */
export function crashesText(run: string, excusedFrom: string): string {
  return `CASE WHEN ${run}.lane <> ${lanes.held} OR ${run}.due_at >= ${excusedFrom} THEN ${run}.crash_count
    WHEN ${run}.last_commit > 0 THEN ${run}.crash_count + 1 ELSE GREATEST(${run}.crash_count, 1) END`;
}

/** The time after which leases that ran out are excused, as a value for the expression above. */
export function excusedFrom(request: ClaimRequest): number {
  return request.excusedFrom ?? Number.MAX_SAFE_INTEGER;
}

/** A run whose rows are damaged or gone wants no turn any more, so that it is not met again. */
function asideMover(database: Database, dialect: Dialect): (runs: readonly number[]) => Promise<void> {
  const update = dialect.update("run", ["id"], ["lane"]);
  return async (runs) => {
    await database.run([update(runs.map((run) => [run, null]))]);
  };
}

function readIfSound(row: SqlRow, request: ClaimRequest): Claim | undefined {
  try {
    return readClaim(row, request);
  } catch {
    return undefined;
  }
}

/** From a row as `Dialect.claim` gives them. */
export function readClaim(row: SqlRow, { owner, token, leaseUntil }: ClaimRequest): Claim {
  const begun = readBegunIfSound(row);
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    lease: { runId: integer(row, "run"), token, owner, expiresAt: leaseUntil },
    runNumber: integer(row, "run_number"),
    params: readValue(row, "params"),
    createdAt: integer(row, "created_at"),
    startedAt: integer(row, "started_at"),
    deadlineAt: integerOrNull(row, "deadline_at"),
    waitingSince: integerOrNull(row, "waiting_since"),
    // A row that is damaged is not fresh: whoever reads its history is told so, and the instance ends with the reason.
    fresh: begun !== undefined && !flag(row, "recorded"),
    eventSeq: integer(row, "event_seq"),
    begun: begun ?? [],
    crashCount: integer(row, "crash_count"),
    left: {
      token: integer(row, "token"),
      commit: integer(row, "last_commit"),
      ranOut: flag(row, "ran_out"),
    },
  };
}

function readBegunIfSound(row: SqlRow): Claim["begun"] | undefined {
  try {
    return readBegun(row, "begun");
  } catch {
    return undefined;
  }
}
