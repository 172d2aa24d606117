import type { Turn } from "../engine/turn.ts";
import type { RunId } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";

/**
 * Suspended turns kept in memory, least recently used first to go. A cache: dropping one at any moment costs a replay
 * and changes nothing else.
 */
export class Residents {
  readonly #max: number;
  readonly #turns = new Map<RunId, Turn>();

  constructor(max: number) {
    this.#max = max;
  }

  keep(turn: Turn): void {
    const { runId } = turn.claim.lease;
    this.#turns.delete(runId);
    this.#turns.set(runId, turn);
    if (this.#turns.size <= this.#max) return;
    const oldest = this.#turns.values().next().value;
    if (oldest) this.#drop(oldest);
  }

  /** The turn of this run, if nothing but a claim has happened to the run since the turn was suspended. */
  take(claim: Claim): Turn | undefined {
    const turn = this.#turns.get(claim.lease.runId);
    if (!turn) return undefined;
    this.#turns.delete(claim.lease.runId);
    if (turn.claim.lease.token + 1 === claim.lease.token && turn.state === "suspended") return turn;
    this.#drop(turn);
    return undefined;
  }

  clear(): void {
    for (const turn of [...this.#turns.values()]) this.#drop(turn);
  }

  #drop(turn: Turn): void {
    this.#turns.delete(turn.claim.lease.runId);
    turn.abandon(new Error("The suspended turn was dropped from memory."));
  }
}
