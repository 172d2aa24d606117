/**
 * Turns that began before the store went back in time and have not heard of it: what they know may be gone. They may go on
 * until the store answers them, and nobody can hold them to what is recorded now.
 */
import type { Claim } from "../../model/lease.ts";
import type { StoreOutcome } from "../../store/store.ts";
import type { StoreCall } from "../intercept-store.ts";
import type { Member } from "./fleet.ts";
import type { Entry } from "./ledger.ts";
import { runName } from "./watch.ts";

export interface StaleTurnsParts {
  /** How long an answer is on its way at most. */
  readonly answerMsMax: number;
  readonly now: () => number;
}

export class StaleTurns {
  readonly #parts: StaleTurnsParts;
  /** Processes that were there when the store went back for the last time. */
  readonly #older = new Set<Member>();
  /** When a process took up a run since then. */
  #takenUp = new Map<string, number>();

  constructor(parts: StaleTurnsParts) {
    this.#parts = parts;
  }

  wentBack(members: Iterable<Member>): void {
    for (const member of members) this.#older.add(member);
    this.#takenUp = new Map();
  }

  applied(member: Member, { method }: StoreCall, answer: unknown): void {
    if (!this.#older.has(member)) return;
    if (method === "claim") for (const claim of answer as readonly Claim[]) this.#takes(member, claim);
    if (method !== "write") return;
    for (const outcome of answer as readonly StoreOutcome[])
      if (outcome.kind === "created" && outcome.claim) this.#takes(member, outcome.claim);
  }

  isStale({ member, run }: Pick<Entry, "member" | "run">): boolean {
    if (!this.#older.has(member)) return false;
    const takenUpAt = this.#takenUp.get(keyOf(member, run));
    // A turn from before may still be there while the claim that replaces it is on its way.
    return takenUpAt === undefined || this.#parts.now() <= takenUpAt + this.#parts.answerMsMax;
  }

  #takes(member: Member, claim: Claim): void {
    this.#takenUp.set(keyOf(member, runName(claim)), this.#parts.now());
  }
}

function keyOf({ number }: Member, run: string): string {
  return `${number} ${run}`;
}
