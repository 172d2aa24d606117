import type { Runtime } from "../model/runtime.ts";
import { isOutage } from "./store-patience.ts";

interface Outage {
  /** Since when the store may have been out of reach, by its own clock. */
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
  readonly #unaskedMsMax: number;
  /** By the monotonic clock: when the store last answered. */
  #answeredAt: number | null = null;
  /** By the monotonic clock: since when it may have been out of reach. */
  #failingSince: number | null = null;
  #last: Outage | null = null;

  /**
   * An idle runner asks rarely, so an outage is older than the first call that fails: by up to `unaskedMsMax`, the longest
   * time for which a runner does not ask.
   */
  constructor(runtime: Pick<Runtime, "monotonic" | "now">, leaseMs: number, unaskedMsMax: number = leaseMs) {
    this.#runtime = runtime;
    this.#leaseMs = leaseMs;
    this.#unaskedMsMax = unaskedMsMax;
  }

  /** A call to the store, and what becomes of it. One that takes as long as a renewal may is taken for failed until then. */
  async watch<Result>(ask: () => Promise<Result>): Promise<Result> {
    const since = this.#runtime.monotonic();
    try {
      const answer = await ask();
      if (this.#runtime.monotonic() - since > this.#leaseMs / 6) this.failed(since);
      this.answered();
      return answer;
    } catch (failure) {
      if (isOutage(failure)) this.failed(since);
      throw failure;
    }
  }

  /** A call that was made at `since`, by the monotonic clock, got no answer. */
  failed(since: number): void {
    // Somebody else was answered meanwhile: it was the connection, not the store.
    if (this.#answeredAt !== null && since < this.#answeredAt) return;
    this.#failingSince ??=
      this.#answeredAt === null ? since : Math.max(this.#answeredAt, since - this.#unaskedMsMax);
  }

  answered(): void {
    if (this.#failingFrom !== undefined) {
      const from = this.excusedFrom as number;
      this.#last = { from, forgottenAt: this.#runtime.monotonic() + this.#leaseMs };
    }
    this.#failingSince = null;
    this.#answeredAt = this.#runtime.monotonic();
  }

  /** This process itself stood still: what failed or ran out meanwhile says nothing about the store. */
  stoodStill(): void {
    this.#failingSince = null;
    this.#answeredAt = this.#runtime.monotonic();
  }

  /** Leases that ran out at this time or later prove no crash; undefined when all do. */
  get excusedFrom(): number | undefined {
    if (this.#last !== null && this.#last.forgottenAt <= this.#runtime.monotonic()) this.#last = null;
    return this.#last?.from ?? this.#failingFrom;
  }

  get #failingFrom(): number | undefined {
    if (this.#failingSince === null) return undefined;
    const failingMs = this.#runtime.monotonic() - this.#failingSince;
    if (failingMs < this.#leaseMs / 2) return undefined;
    // Who never had an answer cannot say when it began. Whole, as all times of a store are: monotonic clocks tell fractions.
    return this.#answeredAt === null ? 0 : Math.floor(this.#runtime.now() - failingMs);
  }
}
