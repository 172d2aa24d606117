/**
 * Only a run whose own bodies were under way when its runners ended is given up, or whose runner had said that it holds it
 * and was not heard of again (INV-14).
 */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim, Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { type Applied, type Check, nameOf } from "./applied.ts";

export interface CrashLoopsParts {
  readonly ledger: Ledger;
  readonly maxCrashes: number;
  /** The workflow whose bodies are in the ledger. */
  readonly workflowName: string;
}

interface Hold {
  readonly run: string;
  readonly member: Member;
  /** Starts of bodies of all runs before it. */
  readonly since: number;
  readonly token: number;
  /** Its holder has committed something under the lease. */
  isHeard: boolean;
}

export class CrashLoops implements Check {
  readonly #parts: CrashLoopsParts;
  readonly #holds = new Map<RunId, Hold>();
  /** Leases of a run under which bodies of its own began, and that others had to take over. */
  readonly #charged = new Map<string, number>();

  constructor(parts: CrashLoopsParts) {
    this.#parts = parts;
  }

  *applied({ member, call, answer, written, runs }: Applied): Generator<Finding> {
    if (call.method === "claim") for (const claim of answer as readonly Claim[]) this.#claimed(member, claim);
    for (const { outcome, request, became } of written) {
      if (outcome.kind === "created" && outcome.claim) this.#hold(member, outcome.claim);
      if (request.kind === "commit" && became === "applied") this.#heard(request.lease);
    }
    for (const { before, after } of runs) {
      const { error, workflowName } = after.record;
      if (workflowName !== this.#parts.workflowName) continue;
      if (error?.code !== "CRASH_LOOP" || before?.record.error?.code === "CRASH_LOOP") continue;
      const charged = this.#charged.get(nameOf(after)) ?? 0;
      // One lease may have run out that nobody ever heard of, and alone it proves nothing.
      const least = Math.max(1, this.#parts.maxCrashes - 1);
      if (charged >= least) continue;
      yield {
        invariant: "INV-14",
        message: `${nameOf(after)} was given up, though bodies of its own were under way in ${charged} crashes of at least ${least}`,
      };
    }
  }

  /** Whoever held it before did not give it back, or has: then nothing was under way. */
  #claimed(member: Member, claim: Claim): void {
    const hold = this.#holds.get(claim.lease.runId);
    if (hold !== undefined && (hold.isHeard || this.#hasBegun(hold)))
      this.#charged.set(hold.run, (this.#charged.get(hold.run) ?? 0) + 1);
    this.#hold(member, claim);
  }

  #hold(member: Member, { lease, workflowName, instanceId, runNumber }: Claim): void {
    const run = `${workflowName}/${instanceId}/${runNumber}`;
    const since = this.#parts.ledger.entries.length;
    this.#holds.set(lease.runId, { run, member, since, token: lease.token, isHeard: false });
  }

  #heard({ runId, token }: Lease): void {
    const hold = this.#holds.get(runId);
    if (hold?.token === token) hold.isHeard = true;
  }

  #hasBegun({ run, member, since }: Hold): boolean {
    return this.#parts.ledger.entries
      .slice(since)
      .some((entry) => entry.run === run && entry.member === member);
  }
}
