/** A body whose run was decided about or taken over is told so before long, wherever it runs: its signal fires (INV-6, INV-12). */
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Entry } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Applied, Check } from "./applied.ts";

export interface VoidBodiesParts {
  readonly facts: ReadonlyMap<string, RunFacts>;
  /** By then every process knows that a lease it had is over, by itself if nobody told it. */
  readonly toldWithinMs: number;
}

interface Body {
  readonly entry: Entry;
  readonly token: number;
  /** Since when another token is in force. */
  voidSince: number | null;
}

export class VoidBodies implements Check {
  readonly #parts: VoidBodiesParts;
  /** Processes that stood still. */
  readonly #disturbed = new Set<Member>();
  #bodies: Body[] = [];

  constructor(parts: VoidBodiesParts) {
    this.#parts = parts;
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  begins(entry: Entry): void {
    const facts = this.#parts.facts.get(entry.run);
    if (facts !== undefined) this.#bodies.push({ entry, token: facts.record.token, voidSince: null });
  }

  *applied({ now }: Applied): Generator<Finding> {
    this.#bodies = this.#bodies.filter(({ entry }) => this.#counts(entry));
    for (const body of this.#bodies) {
      const record = this.#parts.facts.get(body.entry.run)?.record;
      if (record === undefined) continue;
      const isVoid = record.token !== body.token || isTerminal(record.status);
      body.voidSince = isVoid ? (body.voidSince ?? now) : null;
      const sinceMs = body.voidSince === null ? 0 : now - body.voidSince;
      if (sinceMs <= this.#parts.toldWithinMs) continue;
      const { key, member } = body.entry;
      yield {
        invariant: "INV-6",
        message: `${key} goes on in process ${member.number}, which has not told it in ${Math.round(sinceMs)} ms that it is void`,
      };
    }
  }

  #counts({ how, signal, member }: Entry): boolean {
    return (
      how === "under way" &&
      !signal.aborted &&
      member.process.state === "running" &&
      !this.#disturbed.has(member)
    );
  }
}
