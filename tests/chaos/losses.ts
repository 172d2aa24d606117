/**
 * A standby that takes over without the last writes of its primary: what was acknowledged in between is as if it had never
 * been. What that excuses, and nothing beyond it:
 *
 *  - Whatever clients were told meanwhile may not be so.
 *  - Bodies that began meanwhile may have seen results that are gone, in runs that may be gone.
 *    So may bodies inside of these, which begin without a write.
 *  - A process does not know at once that its lease is gone. Until it is told, at its next write or renewal or by its own
 *    clock when the lease is over, bodies of a run may begin once more and be at work in two processes.
 */
import { latenessMs, wasAway } from "./audit/gaps.ts";
import type { Evidence } from "./evidence.ts";
import type { BeginLine } from "./ledger.ts";
import { type Receipt, Receipts } from "./receipts.ts";

/** Between these times, by the shared clock, writes were acknowledged and lost. */
export interface Loss {
  readonly from: number;
  readonly to: number;
}

/** A body that began then may have seen what is lost; a later one never, unless its process did not get to run until then. */
export function seesLost({ pid, at }: Pick<BeginLine, "pid" | "at">, evidence: Evidence): boolean {
  return evidence.losses.some(
    ({ from, to }) => at >= from && (at <= to + latenessMs || wasAway(pid, to, at, evidence)),
  );
}

/** Everything between these times happened while somebody may have held a lease that was lost. */
export function isHeldInVain(
  since: number,
  until: number,
  leaseMs: number,
  losses: readonly Loss[],
): boolean {
  return losses.some(({ from, to }) => since >= from && until <= to + leaseMs + latenessMs);
}

/** The same receipts, with what may have been lost as what nobody knows. */
export function doubtful(receipts: Receipts, losses: readonly Loss[]): Receipts {
  const doubt = <Each extends Receipt>(each: Each): Each => {
    const lost = losses.some(({ from, to }) => each.answeredAt >= from && each.askedAt <= to);
    return lost && each.answer === "acknowledged" ? { ...each, answer: "unknown" } : each;
  };
  const result = new Receipts();
  result.creations.push(...receipts.creations.map(doubt));
  result.letters.push(...receipts.letters.map(doubt));
  result.publications.push(...receipts.publications.map(doubt));
  result.decisions.push(...receipts.decisions.map(doubt));
  result.absurd.push(...receipts.absurd);
  return result;
}
