/** Where a store can tell that a process is dead, nobody waits for its leases to run out (LIV-2). */

import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Applied, Check } from "./applied.ts";

export interface DeathsParts {
  readonly leases: Leases;
  readonly facts: ReadonlyMap<string, RunFacts>;
  /** By then a living process has noticed and has made the work due. */
  readonly noticedWithinMs: number;
  readonly now: () => number;
}

/** Whose call failed leaves the store alone for this long at most. */
const outageMs = 20_000;

interface Life {
  readonly since: number;
  failedAt: number;
}

export class Deaths implements Check {
  readonly #parts: DeathsParts;
  readonly #alive = new Map<Member, Life>();
  readonly #diedAt = new Map<Member, number>();
  /** When the last thing that the dead had sent arrived. */
  readonly #heardAt = new Map<Member, number>();
  /** Who noticed which death: they know that more may arrive. */
  readonly #noticed = new Map<string, Set<Member>>();

  constructor(parts: DeathsParts) {
    this.#parts = parts;
  }

  news(member: Member, news: string): void {
    const now = this.#parts.now();
    if (news === "started" && member.place.runs)
      this.#alive.set(member, { since: now, failedAt: Number.NEGATIVE_INFINITY });
    if (news === "killed") this.#diedAt.set(member, now);
    if (news === "killed" || news === "stops") this.#alive.delete(member);
  }

  /** A call went wrong, or the process stands still or is cut off for a while. */
  disturbed(member: Member, forMs: number): void {
    const life = this.#alive.get(member);
    if (life) life.failedAt = Math.max(life.failedAt, this.#parts.now() + forMs);
  }

  /** Leases of the dead may be there again, and nobody looks for an owner twice. */
  mark(): () => void {
    return () => this.#diedAt.clear();
  }

  *applied({ member, call, now }: Applied): Generator<Finding> {
    const { leases, facts, noticedWithinMs } = this.#parts;
    if (this.#diedAt.has(member)) this.#heardAt.set(member, now);
    for (const request of call.method === "write" ? call.requests : [])
      if (request.kind === "abandon") this.#notice(request.owner, member);
    if (this.#diedAt.size === 0) return;
    for (const [name, { record }] of facts) {
      if (!record.executing || (record.dueAt ?? 0) <= now) continue;
      const holder = leases.holderOf(record.runId);
      const diedAt = holder ? this.#diedAt.get(holder) : undefined;
      if (holder === null || diedAt === undefined) continue;
      const leftAt = this.#heardAt.get(holder) ?? diedAt;
      if (now - leftAt <= noticedWithinMs || !this.#isWatched(holder, diedAt)) continue;
      yield {
        invariant: "LIV-2",
        message: `${name} was left by process ${holder.number} ${now - leftAt} ms ago, and is not due before ${record.dueAt}`,
      };
    }
  }

  #notice(owner: string, member: Member): void {
    const noticed = this.#noticed.get(owner) ?? new Set();
    this.#noticed.set(owner, noticed.add(member));
  }

  /** Somebody was there all the time and could reach the store; where something arrived late, somebody who knows. */
  #isWatched(dead: Member, since: number): boolean {
    const noticed = this.#heardAt.has(dead) ? this.#noticed.get(dead.owner) : undefined;
    for (const [member, life] of this.#alive) {
      if (noticed !== undefined && !noticed.has(member)) continue;
      if (member.process.state !== "running") continue;
      if (life.since < since && life.failedAt + outageMs < since) return true;
    }
    return false;
  }
}
