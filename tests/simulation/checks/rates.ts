/** A store that is out of reach is asked ever less often, and one that has nothing to give not without a pause (INV-50). */
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Applied, Check } from "./applied.ts";

export interface RatesParts {
  /** 0 where processes are ticked from outside. */
  readonly minPollMs: number;
  /** However far out of reach it is, a store is asked this often. */
  readonly maxPollMs: number;
  readonly now: () => number;
}

interface Silence {
  readonly until: number;
  readonly since: number;
  readonly asked: Map<string, number>;
}

/** Calls of each kind that a process may make in vain: a few at first, then one every so often. */
const atFirst = 12;
const thenEveryMs = 400;
/** Hints travel for so long. */
const hintMs = 3000;

export class Rates implements Check {
  readonly #parts: RatesParts;
  readonly #silences = new Map<Member, Silence>();
  /** Claims in a row that brought nothing, by process. */
  readonly #empty = new Map<Member, { count: number; since: number }>();
  #changedAt = 0;

  constructor(parts: RatesParts) {
    this.#parts = parts;
  }

  /** Nothing reaches the store for this long. */
  cutOff(member: Member, forMs: number): void {
    const since = this.#parts.now();
    this.#silences.set(member, { since, until: since + forMs, asked: new Map() });
  }

  healed(): void {
    this.#silences.clear();
  }

  /** A process makes a call, whatever becomes of it. */
  *called(member: Member, { method }: StoreCall): Generator<Finding> {
    const silence = this.#silences.get(member);
    const now = this.#parts.now();
    if (silence === undefined || now >= silence.until || this.#parts.minPollMs === 0) return;
    if (method !== "claim" && method !== "write") return;
    const count = (silence.asked.get(method) ?? 0) + 1;
    silence.asked.set(method, count);
    const sinceMs = now - silence.since;
    if (count <= atFirst + sinceMs / Math.min(thenEveryMs, this.#parts.maxPollMs)) return;
    yield {
      invariant: "INV-50",
      message: `process ${member.number} made ${count} calls of ${method} in ${Math.round(sinceMs)} ms to a store that is out of reach`,
    };
  }

  *applied({ member, call, answer, now }: Applied): Generator<Finding> {
    const isEmpty = call.method === "claim" && (answer as readonly Claim[]).length === 0;
    if (!isEmpty) {
      this.#changedAt = now;
      this.#empty.clear();
      return;
    }
    if (now - this.#changedAt < hintMs || this.#parts.minPollMs === 0) return;
    const empty = this.#empty.get(member) ?? { count: 0, since: now };
    this.#empty.set(member, { ...empty, count: empty.count + 1 });
    const sinceMs = now - empty.since;
    if (empty.count <= atFirst + (2 * sinceMs) / this.#parts.minPollMs) return;
    yield {
      invariant: "INV-50",
      message: `process ${member.number} claimed ${empty.count} times in ${sinceMs} ms, with nothing to claim`,
    };
  }
}
