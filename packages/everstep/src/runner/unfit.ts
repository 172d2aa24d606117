import { toStoredError } from "../authoring/stored-error.ts";
import type { Boundary, Next } from "../model/boundary.ts";
import { EverstepError } from "../model/error.ts";
import type { Claim } from "../model/lease.ts";
import type { Limits } from "../model/limits.ts";
import type { CommitRequest } from "../model/request.ts";
import type { RunHistory } from "../store/store.ts";

/** Why a claimed run cannot have its turn, as the end it comes to; null when it can. */
export function unfit(claim: Claim, history: RunHistory, limits: Limits): Next | null {
  if (isGivenUp(claim, limits)) {
    const message =
      `Processes running this instance died, or stood still for longer than their lease, ${claim.crashCount} times in a ` +
      `row without progress, so it was given up (limit ${limits.maxCrashes}). Fix what kills or blocks them, then ` +
      "restart or retry the instance.";
    return {
      kind: "error",
      error: toStoredError(new EverstepError("CRASH_LOOP", message)),
      deadLetter: true,
    };
  }
  return history.kind === "unreadable" ? unreadable(history.error) : null;
}

/** Its runners died too often in a row. The first lease that ran out may be one that nobody ever heard of: no proof. */
export function isGivenUp({ crashCount, left }: Claim, { maxCrashes }: Limits): boolean {
  return crashCount >= maxCrashes && (crashCount > 1 || (left.ranOut && left.commit > 0));
}

/** What is stored of the run cannot be read: it ends with the reason and harms nobody else. */
export function unreadable(problem: unknown): Next {
  const detail = problem instanceof Error ? problem.message : String(problem);
  const error = new EverstepError(
    "HISTORY_UNREADABLE",
    `What is stored of this run cannot be read (${detail}). Its rows were left as they are; repair them and restart ` +
      "the instance.",
    { cause: problem },
  );
  return { kind: "error", error: toStoredError(error), deadLetter: false };
}

const nothing = { steps: [], timeouts: [], consumed: [], logs: [] };

/**
 * The last commit of a turn that never began. A pause may drop the end that it brings (INV-9): what had begun before, and how
 * often its runners died, stays as it was.
 */
export function lastBoundary({ begun, eventSeq, confirmed }: Claim, next: Next): Boundary {
  return { number: confirmed ? 2 : 1, ...nothing, begun, eventSeqSeen: eventSeq, noProgress: true, next };
}

/** A first commit that records nothing but that the lease is held; see `crashesAfter`. */
export function confirmation({ lease, begun, eventSeq }: Claim): CommitRequest {
  const next = { kind: "continue" } as const;
  return {
    kind: "commit",
    lease,
    boundary: { number: 1, ...nothing, begun, eventSeqSeen: eventSeq, noProgress: true, next },
    alongside: [],
    mutations: null,
    leaseUntil: 0,
  };
}
