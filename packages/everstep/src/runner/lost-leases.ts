import type { RunId } from "../model/instance.ts";
import type { Lease } from "../model/lease.ts";
import type { Runtime } from "../model/runtime.ts";

/**
 * Leases of turns that were lost without the store having said so: this runner's own clock ended them, or a commit came
 * to nothing that is known. A renewal that was on its way may have extended them, so a runner that stops gives them back.
 */
export class LostLeases {
  readonly #runtime: Runtime;
  readonly #leaseMs: number;
  readonly #lost = new Map<RunId, { readonly lease: Lease; readonly until: number }>();

  constructor(runtime: Runtime, leaseMs: number) {
    this.#runtime = runtime;
    this.#leaseMs = leaseMs;
  }

  /** No renewal was sent later than now. */
  add(lease: Lease): void {
    this.#forgetOver();
    this.#lost.delete(lease.runId);
    this.#lost.set(lease.runId, { lease, until: this.#runtime.monotonic() + this.#leaseMs });
  }

  /** The run came back: what there was before is over. */
  remove(runId: RunId): void {
    if (this.#lost.size > 0) this.#lost.delete(runId);
  }

  /** Those the store may still count as held. */
  get leases(): readonly Lease[] {
    this.#forgetOver();
    return [...this.#lost.values()].map(({ lease }) => lease);
  }

  /** Oldest first, so only what is over is looked at. */
  #forgetOver(): void {
    const now = this.#runtime.monotonic();
    for (const [runId, { until }] of this.#lost) {
      if (until > now) return;
      this.#lost.delete(runId);
    }
  }
}
