import type { Ending } from "../engine/ending.ts";
import type { Claim } from "../model/lease.ts";
import type { ObservedClaim, ObservedRun, ObservedTurn, TurnEnd, TurnKind } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";

/** Only what names the run: what else is known of it is nobody's who looks on. */
export function runOf({ workflowName, instanceId, runNumber }: ObservedRun): ObservedRun {
  return { workflowName, instanceId, runNumber };
}

export function observedClaim(claim: Claim, withCreation: boolean): ObservedClaim {
  return { ...runOf(claim), kind: kindOf(claim), crashCount: claim.crashCount, withCreation };
}

export function observedTurn(claim: Claim, isResident: boolean, runtime: Runtime): ObservedTurn {
  const kind = kindOf(claim);
  const queuedMs = kind === "start" ? Math.max(0, runtime.now() - claim.createdAt) : null;
  return { ...runOf(claim), kind, isResident, queuedMs };
}

export function turnEnd(ending: Ending, durationMs: number): TurnEnd {
  const dueAt = ending.kind === "suspended" ? ending.dueAt : null;
  return { outcome: ending.kind === "ended" ? ends[ending.next.kind] : ending.kind, durationMs, dueAt };
}

/** A restarted run begins anew too: it is the first run alone that was created with its instance. */
function kindOf({ left, fresh, runNumber }: Claim): TurnKind {
  if (left.ranOut) return "takeover";
  return fresh && runNumber === 1 ? "start" : "resume";
}

const ends = {
  complete: "complete",
  error: "errored",
  terminate: "terminated",
  yield: "yielded",
  suspend: "suspended",
  continue: "lost",
} as const satisfies Record<string, TurnEnd["outcome"]>;
