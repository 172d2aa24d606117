import type { Runtime } from "../model/runtime.ts";

interface Outage {
  /** When the store had last answered, by its own clock. */
  readonly from: number;
  /** By the monotonic clock: whatever ran out meanwhile has been taken up by then. */
  readonly forgottenAt: number;
}

/**
 * Remembers since when the store was out of reach, as far as this runner can tell. A lease that ran out meanwhile proves no
 * crash: its holder, this runner or another, may be well and have had nobody to renew it with. Shorter outages cost nobody
 * a lease.
 */
export class Outages {
  readonly #runtime: Pick<Runtime, "monotonic" | "now">;
  readonly #leaseMs: number;
  /** When the store last answered, by its own clock. */
  #answeredAt: number | null = null;
  /** By the monotonic clock: when the first call was made of those that failed since. */
  #failingSince: number | null = null;
  #last: Outage | null = null;

  constructor(runtime: Pick<Runtime, "monotonic" | "now">, leaseMs: number) {
    this.#runtime = runtime;
    this.#leaseMs = leaseMs;
  }

  /** A call that was made at `since`, by the monotonic clock, got no answer. */
  failed(since: number): void {
    this.#failingSince ??= since;
  }

  answered(): void {
    if (this.#failingFrom !== undefined) {
      const from = this.excusedFrom as number;
      this.#last = { from, forgottenAt: this.#runtime.monotonic() + this.#leaseMs };
    }
    this.#failingSince = null;
    this.#answeredAt = this.#runtime.now();
  }

  /** This process itself stood still: what failed or ran out meanwhile says nothing about the store. */
  stoodStill(): void {
    this.#failingSince = null;
    this.#answeredAt = this.#runtime.now();
  }

  /** Leases that ran out at this time or later prove no crash; undefined when all do. */
  get excusedFrom(): number | undefined {
    if (this.#last !== null && this.#last.forgottenAt <= this.#runtime.monotonic()) this.#last = null;
    return this.#last?.from ?? this.#failingFrom;
  }

  get #failingFrom(): number | undefined {
    if (this.#failingSince === null || this.#answeredAt === null) return undefined;
    const failingMs = this.#runtime.monotonic() - this.#failingSince;
    return failingMs >= this.#leaseMs / 2 ? this.#answeredAt : undefined;
  }
}
