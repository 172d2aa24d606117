/**
 * Leases that ran out, counted beside the store (INV-14): every claim says how many there were in a row without progress,
 * of those whose holders were heard of; the next try waits longer each time (INV-50), and where nothing goes wrong none
 * runs out at all (LIV-1).
 */

import type { Next } from "../../../packages/everstep/src/model/boundary.ts";
import {
  type InstanceRecord,
  isTerminal,
  type RunId,
} from "../../../packages/everstep/src/model/instance.ts";
import {
  type Claim,
  type Lease,
  provesCrash,
  type ReturnedLease,
} from "../../../packages/everstep/src/model/lease.ts";
import { crashBackoff } from "../../../packages/everstep/src/model/limits.ts";
import type { ClaimRequest, RenewAnswer, Renewal } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { refill } from "../../../packages/everstep/src/testing/simulate/refill.ts";
import type { Applied, Check, Written } from "./applied.ts";

interface Hold {
  token: number;
  /** Not given back. */
  isHeld: boolean;
  /** The end of its lease, or when somebody was told that its holder is dead. */
  until: number;
  crashes: number;
  /** Its holder has committed something under this lease. */
  isHeard: boolean;
  /** When it was claimed, by the clock of whoever did. */
  claimedAt: number;
  /** The run is not to be tried again before this. */
  notBefore: number;
  /** Something happened to the run after its lease was over: whether a claim had counted that already, nobody said. */
  isTouched: boolean;
}

export interface CrashesParts {
  /** Nothing goes wrong in this world. */
  readonly isCalm: boolean;
  /** How far clocks may be apart. */
  readonly toleranceMs: number;
}

export class Crashes implements Check {
  readonly #parts: CrashesParts;
  readonly #holds = new Map<RunId, Hold>();

  constructor(parts: CrashesParts) {
    this.#parts = parts;
  }

  mark(): () => void {
    const holds = [...this.#holds].map(([runId, hold]) => [runId, { ...hold }] as const);
    return () =>
      refill(
        this.#holds,
        holds.map(([runId, hold]) => [runId, { ...hold }] as const),
      );
  }

  *applied({ call, answer, written, runs, now, before }: Applied): Generator<Finding> {
    switch (call.method) {
      case "claim":
        for (const claim of answer as readonly Claim[])
          yield* this.#claimed(claim, call.args[0] as ClaimRequest, before(claim.lease.runId)?.record.dueAt);
        return;
      case "renew": {
        const [renewals, until] = call.args as [readonly Renewal[], number];
        for (const [at, { lease }] of renewals.entries())
          if ((answer as readonly RenewAnswer[])[at]?.kind === "renewed") this.#extended(lease, until);
        return;
      }
      case "release":
        for (const { after } of runs) this.#looked(after.record, now);
        for (const lease of call.args[0] as readonly ReturnedLease[]) this.#givenBack(lease);
        return;
      case "write":
        for (const { after } of runs) this.#looked(after.record, now);
        if (written.some(({ request }) => request.kind === "change" || request.kind === "wake"))
          for (const { after } of runs) this.#decided(after.record);
        for (const each of written) yield* this.#written(each, call.args[1] as number);
    }
  }

  #claimed(
    { lease, crashCount }: Claim,
    request: ClaimRequest,
    endedAt: number | null | undefined,
  ): readonly Finding[] {
    const { now } = request;
    const { runId, token, expiresAt } = lease;
    const hold = this.#holds.get(runId);
    const ranOut = hold?.isHeld === true;
    this.#holds.set(runId, {
      ...{ token, isHeld: true, until: expiresAt, crashes: crashCount, isHeard: false, isTouched: false },
      claimedAt: now,
      notBefore: ranOut ? now + leastDelayMs(crashCount) : (hold?.notBefore ?? 0),
    });
    if (hold === undefined || (hold.isTouched && !hold.isHeld)) return [];
    const counted = hold.isHeard ? hold.crashes + 1 : Math.max(hold.crashes, 1);
    const expected = ranOut && provesCrash(endedAt ?? hold.until, request) ? counted : hold.crashes;
    const findings: Finding[] = [];
    const found = (invariant: string, message: string): void =>
      void findings.push({ invariant, message: `run ${runId} ${message}` });
    if (crashCount !== expected)
      found("INV-14", `was claimed with ${crashCount} crashes instead of ${expected}`);
    if (ranOut && this.#parts.isCalm)
      found("LIV-1", "was claimed because its lease ran out, though nothing went wrong");
    return findings;
  }

  /** Giving a run up is no try. */
  *#tried(runId: RunId, hold: Hold, next: Next): Generator<Finding> {
    const earlyMs = hold.notBefore - hold.claimedAt;
    if (hold.isTouched || next.kind === "error" || earlyMs <= this.#parts.toleranceMs) return;
    const message = `run ${runId} was tried again after crash ${hold.crashes}, ${earlyMs} ms too early`;
    yield { invariant: "INV-50", message };
  }

  *#written({ request, outcome, became }: Written, now: number): Generator<Finding> {
    if (became !== "applied") return;
    if (request.kind === "create" && outcome.kind === "created" && outcome.claim) {
      const { runId, token, expiresAt } = outcome.claim.lease;
      this.#holds.set(runId, { ...unharmed, token, isHeld: true, until: expiresAt });
    } else if (request.kind === "commit") {
      const hold = this.#holds.get(request.lease.runId);
      if (hold === undefined) return;
      yield* this.#tried(request.lease.runId, hold, request.boundary.next);
      hold.isHeard = true;
      hold.notBefore = 0;
      if (!request.boundary.noProgress) hold.crashes = 0;
      hold.isTouched = false;
      if (request.boundary.next.kind === "continue") hold.until = Math.max(hold.until, request.leaseUntil);
      else hold.isHeld = false;
    } else if (request.kind === "abandon" && request.fate.kind === "release") {
      const { token } = request.fate;
      for (const hold of this.#holds.values()) {
        if (hold.token !== token) continue;
        hold.isHeld = false;
        hold.notBefore = 0;
      }
    } else if (request.kind === "abandon") {
      for (const hold of this.#holds.values()) hold.until = Math.min(hold.until, now);
    } else if (
      request.kind === "change" &&
      outcome.kind === "changed" &&
      request.change.kind === "retryStep"
    ) {
      this.#holds.set(outcome.runId, { ...unharmed, token: 0, isHeld: false, until: 0 });
    }
  }

  #extended({ runId, token }: Lease, until: number): void {
    const hold = this.#holds.get(runId);
    if (hold && hold.token === token) hold.until = Math.max(hold.until, until);
  }

  /** Whoever gives it back without a time has not died of it: the next may try at once. */
  #givenBack({ runId, token, retryAt }: ReturnedLease): void {
    const hold = this.#holds.get(runId);
    if (!hold || hold.token !== token) return;
    hold.isHeld = false;
    if (retryAt === undefined) hold.notBefore = 0;
  }

  /** A person may have a run tried at once; events may not. */
  #decided({ runId }: InstanceRecord): void {
    const hold = this.#holds.get(runId);
    if (hold && !hold.isHeld) hold.notBefore = 0;
  }

  #looked({ runId, status }: InstanceRecord, now: number): void {
    const hold = this.#holds.get(runId);
    if (hold === undefined) return;
    if (isTerminal(status)) hold.isHeld = false;
    if (now >= hold.until - this.#parts.toleranceMs) hold.isTouched = true;
  }
}

const unharmed = { crashes: 0, isHeard: false, claimedAt: 0, notBefore: 0, isTouched: false } as const;

/** The first crash costs nothing, and every other twice as much as the one before. */
function leastDelayMs(crash: number): number {
  if (crash < 2) return 0;
  const { baseMs, factor, maxMs, jitterMsMin } = crashBackoff;
  return Math.min(baseMs * factor ** (crash - 2) + jitterMsMin, maxMs);
}
