/**
 * Leases that ran out, counted beside the store (INV-14): every claim says how many there were in a row without progress,
 * the next try waits longer each time (INV-50), and where nothing goes wrong none runs out at all (LIV-1).
 */
import { type InstanceRecord, isTerminal, type RunId } from "../../../model/instance.ts";
import type { Claim, Lease } from "../../../model/lease.ts";
import { crashBackoff } from "../../../model/limits.ts";
import type { ClaimRequest, RenewAnswer, Renewal } from "../../../store/store.ts";
import type { Finding } from "../finding.ts";
import { refill } from "../refill.ts";
import type { Applied, Check, Written } from "./applied.ts";

interface Hold {
  token: number;
  /** Not given back. */
  isHeld: boolean;
  /** The end of its lease, or when somebody was told that its holder is dead. */
  until: number;
  crashes: number;
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

  *applied({ call, answer, written, runs, now }: Applied): Generator<Finding> {
    switch (call.method) {
      case "claim": {
        const { now: claimedAt } = call.args[0] as ClaimRequest;
        for (const claim of answer as readonly Claim[]) yield* this.#claimed(claim, claimedAt);
        return;
      }
      case "renew": {
        const [renewals, until] = call.args as [readonly Renewal[], number];
        for (const [at, { lease }] of renewals.entries())
          if ((answer as readonly RenewAnswer[])[at]?.kind === "renewed") this.#extended(lease, until);
        return;
      }
      case "release":
        for (const { after } of runs) this.#looked(after.record, now);
        for (const lease of call.args[0] as readonly Lease[]) this.#givenBack(lease);
        return;
      case "write":
        for (const { after } of runs) this.#looked(after.record, now);
        for (const each of written) this.#written(each, call.args[1] as number);
    }
  }

  #claimed({ lease, crashCount }: Claim, now: number): readonly Finding[] {
    const { runId, token, expiresAt } = lease;
    const hold = this.#holds.get(runId);
    this.#holds.set(runId, { token, isHeld: true, until: expiresAt, crashes: crashCount, isTouched: false });
    if (hold === undefined || (hold.isTouched && !hold.isHeld)) return [];
    const expected = hold.crashes + (hold.isHeld ? 1 : 0);
    const findings: Finding[] = [];
    const found = (invariant: string, message: string): void =>
      void findings.push({ invariant, message: `run ${runId} ${message}` });
    if (crashCount !== expected)
      found("INV-14", `was claimed with ${crashCount} crashes instead of ${expected}`);
    if (!hold.isHeld) return findings;
    // A resume and an event make it due sooner.
    if (this.#parts.isCalm)
      found("LIV-1", "was claimed because its lease ran out, though nothing went wrong");
    const waitMs = hold.isTouched ? 0 : leastDelayMs(crashCount);
    if (now - hold.until < waitMs - this.#parts.toleranceMs)
      found(
        "INV-50",
        `was tried again after crash ${crashCount} within ${now - hold.until} ms instead of ${waitMs}`,
      );
    return findings;
  }

  #written({ request, outcome, became }: Written, now: number): void {
    if (became !== "applied") return;
    if (request.kind === "create" && outcome.kind === "created" && outcome.claim) {
      const { runId, token, expiresAt } = outcome.claim.lease;
      this.#holds.set(runId, { token, isHeld: true, until: expiresAt, crashes: 0, isTouched: false });
    } else if (request.kind === "commit") {
      const hold = this.#holds.get(request.lease.runId);
      if (hold === undefined) return;
      hold.crashes = 0;
      hold.isTouched = false;
      if (request.boundary.next.kind === "continue") hold.until = Math.max(hold.until, request.leaseUntil);
      else hold.isHeld = false;
    } else if (request.kind === "abandon") {
      for (const hold of this.#holds.values()) hold.until = Math.min(hold.until, now);
    } else if (
      request.kind === "change" &&
      outcome.kind === "changed" &&
      request.change.kind === "retryStep"
    ) {
      this.#holds.set(outcome.runId, { token: 0, isHeld: false, until: 0, crashes: 0, isTouched: false });
    }
  }

  #extended({ runId, token }: Lease, until: number): void {
    const hold = this.#holds.get(runId);
    if (hold && hold.token === token) hold.until = Math.max(hold.until, until);
  }

  #givenBack({ runId, token }: Lease): void {
    const hold = this.#holds.get(runId);
    if (hold && hold.token === token) hold.isHeld = false;
  }

  #looked({ runId, status }: InstanceRecord, now: number): void {
    const hold = this.#holds.get(runId);
    if (hold === undefined) return;
    if (isTerminal(status)) hold.isHeld = false;
    if (now >= hold.until - this.#parts.toleranceMs) hold.isTouched = true;
  }
}

/** The first crash costs nothing, and every other twice as much as the one before. */
function leastDelayMs(crash: number): number {
  if (crash < 2) return 0;
  const { baseMs, factor, maxMs, jitterMsMin } = crashBackoff;
  return Math.min(baseMs * factor ** (crash - 2) + jitterMsMin, maxMs);
}
