/**
 * A process that reaches the store keeps its leases: it renews them long before they end, and loses one only if no call of
 * its got through for as long as a lease lasts (LIV-1). One silent connection beside others that work is no excuse.
 */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim, Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { RenewAnswer, Renewal } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Applied, Check } from "./applied.ts";

export interface KeptLeasesParts {
  readonly leaseMs: number;
  readonly latencyMsMax: number;
  readonly now: () => number;
}

interface Kept {
  readonly token: number;
  readonly member: Member;
  until: number;
  /** Something was written under it: its holder knows of it, and has a turn. */
  isKnown: boolean;
}

export class KeptLeases implements Check {
  readonly #parts: KeptLeasesParts;
  readonly #kept = new Map<RunId, Kept>();
  /** When something other than a silent connection last got in the way of a process. */
  readonly #troubledAt = new Map<Member, number>();
  /** The same, silent connections included. */
  readonly #silencedAt = new Map<Member, number>();

  constructor(parts: KeptLeasesParts) {
    this.#parts = parts;
  }

  /** Until so much later. */
  disturbed(member: Member, forMs: number): void {
    const until = this.#parts.now() + forMs;
    this.#troubledAt.set(member, Math.max(until, this.#troubledAt.get(member) ?? 0));
    this.silenced(member, forMs);
  }

  silenced(member: Member, forMs: number): void {
    const until = this.#parts.now() + forMs;
    this.#silencedAt.set(member, Math.max(until, this.#silencedAt.get(member) ?? 0));
  }

  /** Nobody knows what anybody holds. */
  mark(): () => void {
    return () => this.#kept.clear();
  }

  *applied({ member, call, answer, written, runs, now }: Applied): Generator<Finding> {
    if (call.method === "claim")
      for (const { lease } of answer as readonly Claim[]) yield* this.#claimed(member, lease, now);
    if (call.method === "release")
      for (const { runId } of call.args[0] as readonly Lease[]) this.#kept.delete(runId);
    if (call.method === "renew") {
      const [renewals, until] = call.args as [readonly Renewal[], number];
      for (const [at, { lease }] of renewals.entries())
        if ((answer as readonly RenewAnswer[])[at]?.kind === "renewed") this.#extended(lease, until);
    }
    for (const { request, outcome, became } of written) {
      if (outcome.kind === "created" && outcome.claim) this.#keep(member, outcome.claim.lease);
      if (request.kind === "abandon") this.#kept.clear();
      if (request.kind !== "commit" || became !== "applied") continue;
      if (request.boundary.next.kind === "continue") this.#extended(request.lease, request.leaseUntil);
      else this.#kept.delete(request.lease.runId);
    }
    for (const { after } of runs) if (!after.record.executing) this.#kept.delete(after.record.runId);
    yield* this.#late(now);
  }

  /** One that comes within a third of its end was renewed too late. */
  *#late(now: number): Generator<Finding> {
    const { leaseMs, latencyMsMax } = this.#parts;
    if (leaseMs < 100 * latencyMsMax) return;
    for (const [runId, { member, until, isKnown }] of this.#kept) {
      const leftMs = until - now;
      if (!isKnown || leftMs > leaseMs * 0.35) continue;
      // One that ended with an excuse is over: its holder need not know of it any more.
      if (leftMs < 0 && this.#isTroubled(member, this.#troubledAt, until)) {
        this.#kept.delete(runId);
        continue;
      }
      if (this.#isTroubled(member, this.#silencedAt, now)) continue;
      yield {
        invariant: "LIV-1",
        message: `process ${member.number} let its lease of run ${runId} come within ${leftMs} ms of its end, with nothing in its way`,
      };
    }
  }

  *#claimed(member: Member, lease: Lease, now: number): Generator<Finding> {
    const before = this.#kept.get(lease.runId);
    this.#keep(member, lease);
    const { leaseMs, latencyMsMax } = this.#parts;
    if (before === undefined || !before.isKnown || leaseMs < 60 * latencyMsMax) return;
    if (this.#isTroubled(before.member, this.#troubledAt, Math.min(before.until, now))) return;
    yield {
      invariant: "LIV-1",
      message: `run ${lease.runId} was taken from process ${before.member.number}, which had reached the store all the time`,
    };
  }

  #keep(member: Member, { runId, token, expiresAt }: Lease): void {
    this.#kept.set(runId, { token, member, until: expiresAt, isKnown: false });
  }

  #extended({ runId, token }: Lease, until: number): void {
    const kept = this.#kept.get(runId);
    if (kept?.token !== token) return;
    kept.until = Math.max(kept.until, until);
    kept.isKnown = true;
  }

  /** What counts is the time when the lease ended, where it has: it may be long before anybody looks. */
  #isTroubled(member: Member, at: ReadonlyMap<Member, number>, when: number): boolean {
    if (member.process.state !== "running") return true;
    return (at.get(member) ?? Number.NEGATIVE_INFINITY) > when - 2 * this.#parts.leaseMs;
  }
}
