/** A process that stopped has given back what it held, so that nobody waits for its leases to run out (LIV-6). */
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { Finding } from "../finding.ts";
import type { Member } from "../fleet.ts";
import type { Leases } from "../leases.ts";

export interface StopsParts {
  readonly leases: Leases;
  readonly facts: ReadonlyMap<string, RunFacts>;
  readonly now: () => number;
}

export class Stops {
  readonly #parts: StopsParts;
  /** Processes of which a call went wrong, or that stood still: they may hold what they do not know of. */
  readonly #disturbed = new Set<Member>();

  constructor(parts: StopsParts) {
    this.#parts = parts;
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  *stopped(member: Member): Generator<Finding> {
    if (this.#disturbed.has(member)) return;
    const { leases, facts, now } = this.#parts;
    for (const [name, { record }] of facts) {
      const isHeld = record.executing && (record.dueAt ?? 0) > now();
      if (!isHeld || leases.holderOf(record.runId) !== member) continue;
      yield { invariant: "LIV-6", message: `process ${member.number} stopped and kept ${name} until ${record.dueAt}` };
    }
  }
}
