/**
 * Who may write to which run, told from the calls and answers that went over the wire alone: a model beside the store,
 * which a store that forgets a fence contradicts (INV-1 to INV-4).
 */
import type { RunId } from "../../model/instance.ts";
import type { Claim, Lease } from "../../model/lease.ts";
import type { ClaimRequest, RenewAnswer, Renewal, StoreOutcome, StoreRequest } from "../../store/store.ts";
import type { StoreCall } from "../intercept-store.ts";
import type { Finding } from "./finding.ts";
import type { Member } from "./fleet.ts";

interface Held {
  token: number;
  /** Nobody after it was given back. */
  holder: Member | null;
  until: number;
  workflowName: string;
}

export class Leases {
  readonly #held = new Map<RunId, Held>();
  /** Tokens of every run, with whom they were given to. */
  readonly #used = new Map<RunId, Map<number, Member>>();
  /** Those of leases that the store has lost: who asked for one may ask for it again. */
  readonly #lost = new Map<RunId, Map<number, Member>>();
  /** The latest time at which somebody claimed. */
  #latest = 0;

  /** The process that holds the lease as far as the store is concerned. */
  holderOf(runId: RunId): Member | null {
    return this.#held.get(runId)?.holder ?? null;
  }

  tokenOf(runId: RunId): number {
    return this.#held.get(runId)?.token ?? 0;
  }

  /** Somebody decided about the run, and its token moved. */
  moved(runId: RunId, token: number): void {
    const held = this.#held.get(runId);
    if (held && token !== held.token) this.#held.set(runId, { ...held, token, holder: null, until: 0 });
  }

  /** What is known of the store goes back with it. */
  mark(): () => void {
    const held = [...this.#held].map(([runId, each]) => [runId, { ...each }] as const);
    const used = new Map([...this.#used].map(([runId, tokens]) => [runId, new Set(tokens.keys())] as const));
    return () => {
      this.#held.clear();
      for (const [runId, each] of held) this.#held.set(runId, { ...each });
      for (const [runId, tokens] of this.#used)
        for (const [token, member] of tokens) {
          if (used.get(runId)?.has(token)) continue;
          // It may be lost again, after it was asked for again.
          tokens.delete(token);
          put(this.#lost, runId, token, member);
        }
    };
  }

  applied(member: Member, { method, args, requests }: StoreCall, answer: unknown): readonly Finding[] {
    switch (method) {
      case "claim": {
        const request = args[0] as ClaimRequest;
        const claims = answer as readonly Claim[];
        const findings = claims.flatMap((claim) => this.#claimed(member, claim, request.now));
        return [...findings, ...this.#overCap(claims, request)];
      }
      case "renew":
        return this.#renewed(
          member,
          args[0] as readonly Renewal[],
          args[1] as number,
          answer as readonly RenewAnswer[],
        );
      case "release":
        return (args[0] as readonly Lease[]).flatMap(({ runId, token }) =>
          this.#givenBack(member, runId, token),
        );
      case "write": {
        const outcomes = answer as readonly StoreOutcome[];
        return requests.flatMap((request, at) => this.#written(member, request, outcomes[at]));
      }
      default:
        return [];
    }
  }

  /** No more leases in force at once than a workflow allows, and no more claims than were asked for (INV-47). */
  #overCap(claims: readonly Claim[], { workflows, limit, now }: ClaimRequest): readonly Finding[] {
    const findings: Finding[] = [];
    if (claims.length > limit)
      findings.push({
        invariant: "INV-47",
        message: `${claims.length} runs were claimed where ${limit} were asked for`,
      });
    // One that comes late asks about a time at which others were leased than we know of now.
    const isLate = now < this.#latest;
    this.#latest = Math.max(this.#latest, now);
    if (isLate) return findings;
    for (const { name, concurrency } of workflows) {
      if (concurrency === null || !claims.some(({ workflowName }) => workflowName === name)) continue;
      const held = [...this.#held.values()];
      const leased = held.filter(
        ({ workflowName, holder, until }) => workflowName === name && holder && until > now,
      );
      if (leased.length > concurrency)
        findings.push({
          invariant: "LIV-5",
          message: `${leased.length} runs are leased where ${concurrency} may be`,
        });
    }
    return findings;
  }

  #claimed(member: Member, { lease, workflowName }: Claim, now: number): readonly Finding[] {
    const { runId, token, expiresAt, owner } = lease;
    const before = this.#held.get(runId);
    this.#held.set(runId, { token, holder: member, until: expiresAt, workflowName });
    const findings: Finding[] = [];
    if (this.#isUsed(member, runId, token)) {
      findings.push({
        invariant: "INV-1",
        message: `run ${runId} was claimed by ${owner} with token ${token}, which another lease of it had`,
      });
    }
    if (!before) return findings;
    if (before.holder !== null && before.until > now) {
      findings.push({
        invariant: "INV-1",
        message: `run ${runId} was claimed at ${now} while a lease was in force until ${before.until}`,
      });
    }
    return findings;
  }

  /** No other lease of the run ever had its token. */
  #isUsed(member: Member, runId: RunId, token: number): boolean {
    const loser = this.#lost.get(runId)?.get(token);
    if (loser !== undefined && loser !== member) return true;
    if (this.#used.get(runId)?.has(token)) return true;
    this.#lost.get(runId)?.delete(token);
    put(this.#used, runId, token, member);
    return false;
  }

  #renewed(
    member: Member,
    renewals: readonly Renewal[],
    until: number,
    answers: readonly RenewAnswer[],
  ): readonly Finding[] {
    return renewals.flatMap(({ lease: { runId, token } }, at) => {
      if (answers[at]?.kind !== "renewed") return [];
      const held = this.#held.get(runId);
      if (held?.token === token && held.holder !== null) {
        held.until = Math.max(held.until, until);
        return foreign(member, held.holder, `a renewal of run ${runId}`);
      }
      return [{ invariant: "INV-4", message: `a renewal of run ${runId} revived token ${token}` }];
    });
  }

  /** Nobody gives back what another holds. */
  #givenBack(member: Member, runId: RunId, token: number): readonly Finding[] {
    const held = this.#held.get(runId);
    if (held?.token !== token || held.holder === null) return [];
    const { holder } = held;
    held.holder = null;
    return foreign(member, holder, `a release of run ${runId}`);
  }

  #written(member: Member, request: StoreRequest, outcome: StoreOutcome | undefined): readonly Finding[] {
    if (request.kind === "create" && outcome?.kind === "created" && outcome.claim) {
      const { runId, token, expiresAt } = outcome.claim.lease;
      // A repeated creation hands the same claim out again.
      if (!this.#isUsed(member, runId, token))
        this.#held.set(runId, {
          token,
          holder: member,
          until: expiresAt,
          workflowName: request.workflowName,
        });
      return [];
    }
    if (request.kind === "abandon" && request.fate.kind === "release") {
      const { token } = request.fate;
      const given = [...this.#held].filter(([, held]) => held.token === token);
      return given.flatMap(([runId]) => this.#givenBack(member, runId, token));
    }
    if (request.kind === "abandon") {
      for (const held of this.#held.values()) if (held.holder?.process.state === "dead") held.until = 0;
      return [];
    }
    if (request.kind !== "commit" || (outcome?.kind !== "committed" && outcome?.kind !== "paused")) return [];
    return this.#committed(
      member,
      request.lease,
      request.boundary.next.kind === "continue",
      request.leaseUntil,
    );
  }

  #committed(
    member: Member,
    { runId, token }: Lease,
    goesOn: boolean,
    leaseUntil: number,
  ): readonly Finding[] {
    const held = this.#held.get(runId);
    if (held === undefined || held.token !== token) {
      return [
        {
          invariant: "INV-2",
          message: `a commit under token ${token} of run ${runId} took effect, ${held ? `which is held under ${held.token}` : "which nobody holds"}`,
        },
      ];
    }
    const { holder } = held;
    if (goesOn) held.until = Math.max(held.until, leaseUntil);
    else held.holder = null;
    return foreign(member, holder, `a commit of run ${runId}`);
  }
}

/** A lease is good for the process that got it. One that was given back may be repeated by whom it belonged to. */
function foreign(member: Member, holder: Member | null, what: string): readonly Finding[] {
  if (holder === null || holder === member) return [];
  const message = `${what} by process ${member.number} took effect, but the lease is with ${holder.number}`;
  return [{ invariant: "INV-2", message }];
}

function put(tokens: Map<RunId, Map<number, Member>>, runId: RunId, token: number, member: Member): void {
  const ofRun = tokens.get(runId) ?? new Map<number, Member>();
  tokens.set(runId, ofRun.set(token, member));
}
