/** A process that stopped has given back what it held, so that nobody waits for its leases to run out (LIV-6). */
import type { Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";

export interface StopsParts {
  readonly leases: Leases;
  readonly facts: ReadonlyMap<string, RunFacts>;
  readonly now: () => number;
}

export class Stops {
  readonly #parts: StopsParts;
  /** Processes of which a call went wrong, or that stood still: they may hold what they do not know of. */
  readonly #disturbed = new Set<Member>();
  readonly #stopping = new Set<Member>();
  /** Leases under which something was committed: their holders know of them. */
  readonly #known = new Set<string>();

  constructor(parts: StopsParts) {
    this.#parts = parts;
  }

  /** Who is told so once more may be gone before what it gives back has arrived. */
  stops(member: Member): void {
    if (this.#stopping.has(member)) this.disturbed(member);
    this.#stopping.add(member);
  }

  committed({ runId, token }: Lease): void {
    this.#known.add(`${runId} ${token}`);
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  *stopped(member: Member): Generator<Finding> {
    if (this.#disturbed.has(member)) return;
    const { leases, facts, now } = this.#parts;
    for (const [name, { record }] of facts) {
      const isHeld = record.executing && (record.dueAt ?? 0) > now();
      const { runId, token } = record;
      if (!isHeld || leases.holderOf(runId) !== member || !this.#known.has(`${runId} ${token}`)) continue;
      yield {
        invariant: "LIV-6",
        message: `process ${member.number} stopped and kept ${name} until ${record.dueAt}`,
      };
    }
  }
}
