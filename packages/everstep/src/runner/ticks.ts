import { runnerDefaults } from "../model/limits.ts";
import type { Claimed } from "./claimer.ts";
import type { TickReport } from "./poll-dispatcher.ts";
import type { StepBudget } from "./runner-host.ts";
import type { RunnerParts } from "./runner-parts.ts";

type Parts = Pick<
  RunnerParts,
  "setup" | "dispatcher" | "leases" | "beats" | "owners" | "capacity" | "turns" | "host" | "claimer"
>;

export interface TickOptions {
  readonly maxInstances?: number;
  /** Bodies that may start in this tick; what is left goes on in a later one. */
  readonly maxSteps?: number;
}

/** Looks for due runs, as many as there is room for, and begins their turns. */
export class Ticks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** One sweep for hosts without a loop: claims, takes the turns, and waits until each has ended or waits. */
  tick(options: TickOptions): Promise<{ readonly processed: number }> {
    return this.#parts.turns.arriving(this.#tick(options));
  }

  async #tick(options: TickOptions): Promise<{ readonly processed: number }> {
    const { beats, owners, capacity, host } = this.#parts;
    host.guard();
    await owners.hold();
    await owners.look();
    const limit = Math.min(options.maxInstances ?? Number.POSITIVE_INFINITY, capacity.room);
    const budget = options.maxSteps === undefined ? null : { left: options.maxSteps };
    const { begun } = await this.#claimAndBegin(limit, budget);
    const counted = await Promise.all(begun);
    await beats.beatNow();
    return { processed: counted.filter(Boolean).length };
  }

  /** The same for the dispatcher, which does not wait for the turns and wants to know when to look again. */
  sweep(): Promise<TickReport> {
    return this.#parts.turns.arriving(this.#sweep());
  }

  async #sweep(): Promise<TickReport> {
    const { setup, dispatcher, beats, owners, capacity, claimer } = this.#parts;
    try {
      const stale = setup.freshenClock();
      if (stale) await this.#parts.leases.outages.watch(() => stale);
      beats.beat();
      await owners.look();
      const limit = Math.min(capacity.room, runnerDefaults.claimMax);
      if (limit <= 0) {
        // Something may be due that nobody looked at: the first place to become free looks.
        capacity.looked(true);
        return { claimed: 0, nextDueAt: undefined };
      }
      const { at, isMore, begun } = await this.#claimAndBegin(limit, null);
      const claimed = begun.length;
      capacity.looked(isMore);
      if (isMore) {
        if (capacity.room > 0) dispatcher.nudge();
        return { claimed, nextDueAt: undefined };
      }
      const { nextDueAt, held } = await claimer.lookAhead(at);
      // The end of a turn here makes room, so it looks again.
      if (held) capacity.looked(true);
      return { claimed, nextDueAt };
    } catch (problem) {
      setup.onProblem(problem);
      throw problem;
    }
  }

  async #claimAndBegin(limit: number, budget: StepBudget | null): Promise<Claimed<Promise<boolean>>> {
    const { leases, capacity, turns, claimer } = this.#parts;
    const places = Math.max(0, limit);
    capacity.reserve(places);
    try {
      await leases.keeper.catchUp();
      return await claimer.claim(places, (each) => turns.begin(each, budget));
    } finally {
      capacity.free(places);
    }
  }
}
