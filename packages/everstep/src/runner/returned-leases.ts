import { StoreError } from "../model/error.ts";
import type { ReturnedLease } from "../model/lease.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Store, StoreOutcome } from "../store/store.ts";
import { askAgainMs } from "./store-patience.ts";

/** It may have taken effect, or may still do so. */
export function mayHaveApplied(failure: unknown): boolean {
  return !(failure instanceof StoreError) || failure.failure === "ambiguous";
}

export interface ReturnedLeasesParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly owner: string;
  readonly leaseMs: number;
}

interface Returned {
  readonly leases: readonly ReturnedLease[];
  /** All that were handed out with this token, by an answer that was lost. */
  readonly token?: number;
  /** How often the store was asked for them and had none. */
  readonly missed?: number;
  /** By the monotonic clock: then they are over. */
  readonly over: number;
}

/** What handed them out may arrive behind the request that gives them back, so that is made again a few times. */
const missesMax = 3;
const missedMs = 1000;

function isMissed(outcome: StoreOutcome | undefined): boolean {
  return outcome?.kind === "abandoned" && outcome.runs === 0;
}

/**
 * Leases that nobody takes a turn with: they are given back, so that their runs need not wait until they run out, which
 * would count as a crash. What a failing store has not taken is offered again once in a while, all of it together, for as
 * long as the leases last.
 */
export class ReturnedLeases {
  readonly #parts: ReturnedLeasesParts;
  /** What the store has not taken. */
  #left: readonly Returned[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failures = 0;
  #timer: Timer | null = null;
  #isStopped = false;

  constructor(parts: ReturnedLeasesParts) {
    this.#parts = parts;
  }

  /** Resolves when the store was told, or has failed: then it is told later. */
  async give(leases: readonly ReturnedLease[]): Promise<void> {
    if (leases.length > 0) await this.#begin([{ leases, over: this.#over() }]);
  }

  /** The same where the answer was lost: no other leases ever have that token. */
  giveUnheard(token: number): Promise<void> {
    return this.#begin([{ leases: [], token, over: this.#over() }]);
  }

  /** Tries once more, and leaves nothing waiting. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = null;
    await Promise.all(this.#underWay);
    await this.#offerAgain();
  }

  #begin(returned: readonly Returned[]): Promise<void> {
    const offer = this.#offer(returned).finally(() => this.#underWay.delete(offer));
    this.#underWay.add(offer);
    return offer;
  }

  #over(): number {
    return this.#parts.runtime.monotonic() + this.#parts.leaseMs;
  }

  async #offerAgain(): Promise<void> {
    const now = this.#parts.runtime.monotonic();
    const left = this.#left.filter(({ over }) => over > now);
    this.#left = [];
    if (left.length > 0) await this.#begin(left);
    else this.#failures = 0;
  }

  async #offer(returned: readonly Returned[]): Promise<void> {
    const { store, runtime, owner } = this.#parts;
    const leases = returned.flatMap((each) => each.leases);
    const unheard = returned.filter(({ token }) => token !== undefined);
    const abandoned = unheard.map(({ token = 0 }) => {
      return { kind: "abandon", owner, fate: { kind: "release", token } } as const;
    });
    try {
      if (leases.length > 0) await store.release(leases, runtime.now());
      const outcomes = abandoned.length > 0 ? await store.write(abandoned, runtime.now()) : [];
      this.#failures = 0;
      const missed = unheard.filter((_each, at) => isMissed(outcomes[at]));
      this.#missed(missed.map((each) => ({ ...each, missed: (each.missed ?? 0) + 1 })));
    } catch (failure) {
      this.#left = [...this.#left, ...returned];
      this.#offerLater(failure);
    }
  }

  #missed(missed: readonly Returned[]): void {
    const left = missed.filter((each) => (each.missed ?? 0) < missesMax);
    if (left.length === 0) return;
    this.#left = [...this.#left, ...left];
    this.#after(missedMs);
  }

  #offerLater(failure: unknown): void {
    if (this.#timer || this.#isStopped) return;
    this.#after(askAgainMs(failure, this.#failures++, this.#parts.runtime));
  }

  #after(delayMs: number): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = this.#parts.runtime.timer(() => {
      this.#timer = null;
      void this.#offerAgain();
    }, delayMs);
  }
}
