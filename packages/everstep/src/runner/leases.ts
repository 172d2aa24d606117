import type { Lease } from "../model/lease.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LostLeases } from "./lost-leases.ts";
import { Outages } from "./outages.ts";
import { ReturnedLeases } from "./returned-leases.ts";
import type { RunnerSetup } from "./runner-setup.ts";
import { isRetryable, retryAfterMs } from "./store-patience.ts";

/** How often a runner that stops tries to give leases back. */
const stopReleasesMax = 3;

/** The leases of one runner: those it keeps, those it lost, and those it gives back. */
export class Leases {
  readonly outages: Outages;
  readonly keeper: LeaseKeeper;
  readonly lost: LostLeases;
  readonly returned: ReturnedLeases;
  readonly #setup: RunnerSetup;

  constructor(setup: RunnerSetup, owner: string) {
    const { store, runtime } = setup;
    const { leaseMs } = setup.options;
    this.#setup = setup;
    this.outages = new Outages(runtime, leaseMs, Math.max(leaseMs, setup.options.maxPollMs));
    this.keeper = new LeaseKeeper(store, runtime, leaseMs, () => setup.freshenClock(), this.outages);
    this.lost = new LostLeases(runtime, leaseMs);
    this.returned = new ReturnedLeases({ store, runtime, owner, leaseMs });
  }

  /**
   * Gives these back for good; false when the store did not take them. One that fails now may answer in a moment; the pauses
   * together are shorter than a stop waits for it.
   */
  async release(leases: readonly Lease[]): Promise<boolean> {
    const { store, runtime, onProblem } = this.#setup;
    for (let attempt = 0; attempt < stopReleasesMax; attempt++) {
      try {
        await store.release(leases, runtime.now());
        return true;
      } catch (problem) {
        onProblem(problem);
        if (!isRetryable(problem) || attempt + 1 === stopReleasesMax) return false;
        const delayMs = retryAfterMs(problem, attempt, runtime);
        await new Promise<void>((resolve) => void runtime.timer(resolve, delayMs));
      }
    }
    return false;
  }
}
