/** How often the loops of a process ask the store: a loop that has gone wild is one that nobody asked (INV-50). */
import type { StoreCall, StoreMethod } from "../intercept-store.ts";
import type { Finding } from "./finding.ts";
import type { Member } from "./fleet.ts";

/** Calls that no caller makes. */
const ofLoops: readonly StoreMethod[] = ["claim", "nextDueAt", "renew", "release", "readRuns"];
/** Far more than polling, nudges and the ends of turns ever cause. */
const callsMax = 400;
const windowMs = 1000;

export class Pace {
  readonly #elapsed: () => number;
  readonly #counts = new Map<Member, { since: number; calls: number }>();

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  called(member: Member, { method }: StoreCall): Finding | null {
    if (!ofLoops.includes(method)) return null;
    const now = this.#elapsed();
    const count = this.#counts.get(member);
    if (count === undefined || now - count.since >= windowMs) {
      this.#counts.set(member, { since: now, calls: 1 });
      return null;
    }
    count.calls++;
    if (count.calls !== callsMax) return null;
    const message = `process ${member.number} asked the store ${callsMax} times within ${Math.round(now - count.since)} ms`;
    return { invariant: "INV-50", message };
  }
}
