/** How often the loops of a process ask the store: a loop that has gone wild is one that nobody asked (INV-50). */
import type { StoreCall, StoreMethod } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";

/** Calls that no caller makes. */
const ofLoops: readonly StoreMethod[] = ["claim", "nextDueAt", "renew", "release", "readRuns"];
/** Far more than polling, nudges and the ends of turns ever cause. */
const callsMax = 400;
/** And what somebody wrote is news for every process: it looks, and looks ahead. */
const callsPerWrite = 4;
const windowMs = 1000;

export class Pace {
  readonly #elapsed: () => number;
  readonly #counts = new Map<Member, { since: number; calls: number; writes: number }>();
  /** Of all processes. */
  #writes = 0;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  called(member: Member, { method }: StoreCall): Finding | null {
    if (method === "write") this.#writes++;
    if (!ofLoops.includes(method)) return null;
    const now = this.#elapsed();
    const count = this.#counts.get(member);
    if (count === undefined || now - count.since >= windowMs) {
      this.#counts.set(member, { since: now, calls: 1, writes: this.#writes });
      return null;
    }
    count.calls++;
    if (count.calls < callsMax + callsPerWrite * (this.#writes - count.writes)) return null;
    const message = `process ${member.number} asked the store ${count.calls} times within ${Math.round(now - count.since)} ms`;
    return { invariant: "INV-50", message };
  }
}
