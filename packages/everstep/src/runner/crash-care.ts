/**
 * What becomes of claimed runs whose runners died. Everything a process held dies with it, so most of them are innocent:
 * a delay of its own for each parts them from the one that kills, and those that were there twice are taken one at a time,
 * so that the one is found out and the others go on. Pure.
 */
import { crashDelayMs } from "../engine/backoff.ts";
import type { Claim, ReturnedLease } from "../model/lease.ts";
import { crashBackoff } from "../model/limits.ts";

/** From so many crashes in a row on, a run is taken while no other such run is. */
export const crashesForSuspicion = 2;

export interface CareTerms {
  readonly now: number;
  readonly random: () => number;
  /** Runs under suspicion that have their turn here already. */
  readonly suspects: number;
  /** It is given up, not tried again. */
  readonly isOver: (claim: Claim) => boolean;
}

export interface CaredFor {
  readonly taken: readonly Claim[];
  readonly putOff: readonly ReturnedLease[];
}

export function careFor(claims: readonly Claim[], terms: CareTerms): CaredFor {
  const taken: Claim[] = [];
  const putOff: ReturnedLease[] = [];
  let { suspects } = terms;
  for (const claim of claims) {
    const delayMs = delayOf(claim, suspects, terms);
    if (delayMs > 0) putOff.push({ ...claim.lease, retryAt: terms.now + delayMs });
    else {
      taken.push(claim);
      if (isSuspect(claim) && !terms.isOver(claim)) suspects += 1;
    }
  }
  return { taken, putOff };
}

export function isSuspect({ crashCount }: Claim): boolean {
  return crashCount >= crashesForSuspicion;
}

/** What kills its process may take its time: with every crash a run is kept apart from the others for longer. */
export function isUnderSuspicion(claim: Claim, heldMs: number, leaseMs: number): boolean {
  return isSuspect(claim) && heldMs <= leaseMs * (claim.crashCount - 1);
}

function delayOf(claim: Claim, suspects: number, { random, isOver }: CareTerms): number {
  const { crashCount, left } = claim;
  if (isOver(claim)) return 0;
  const crashed = left.ranOut ? crashDelayMs(crashCount, random) : 0;
  if (crashed > 0 || !isSuspect(claim) || suspects === 0) return crashed;
  const { jitterMsMin, jitterMsMax } = crashBackoff;
  return jitterMsMin + Math.round(random() * (jitterMsMax - jitterMsMin));
}
