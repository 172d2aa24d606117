/** Whether a world has come to its end, and how long nothing at all will happen in it. */
import { isTerminal } from "../../../model/instance.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { Fleet } from "../fleet.ts";
import type { World } from "../world.ts";
import type { Bodies } from "./bodies.ts";
import type { Caller } from "./caller.ts";
import type { TimeAndChance } from "./time-and-chance.ts";

export interface RestParts {
  readonly world: World;
  readonly facts: () => Iterable<RunFacts>;
  readonly fleet: Fleet;
  readonly bodies: Bodies;
  readonly caller: Caller;
  readonly time: TimeAndChance;
  readonly mustEnd: boolean;
  readonly isScenarioOver: () => boolean;
}

/** Less is not worth a break. */
const breakMsMin = 5000;

export class Rest {
  readonly #parts: RestParts;

  constructor(parts: RestParts) {
    this.#parts = parts;
  }

  /** Nobody is at anything any more, and every instance has ended, or waits where that is enough. */
  get isReached(): boolean {
    const { isScenarioOver, caller, bodies } = this.#parts;
    if (!isScenarioOver() || caller.isAsking || caller.isAwaiting || bodies.areUnderWay) return false;
    for (const facts of this.#parts.facts()) if (!this.#rests(facts)) return false;
    return true;
  }

  /** Until when nothing can happen by itself; null when something can at any time. */
  get quietUntil(): number | null {
    const { world, facts, fleet, bodies, caller, time } = this.#parts;
    if (caller.isAsking || bodies.areUnderWay) return null;
    const areHere = fleet.places.every(
      ({ member, comesBack }) => (!member && !comesBack) || member?.process.state === "running",
    );
    if (!areHere) return null;
    let until = time.wakesAt;
    for (const { record, isCurrent } of facts()) {
      // Whoever waits for its end is about to notice.
      if (isTerminal(record.status) && caller.awaits(record)) return null;
      if (!isCurrent || isTerminal(record.status) || record.status === "paused") continue;
      if (record.executing || record.dueAt === null) return null;
      until = Math.min(until, record.dueAt);
    }
    return until - world.now >= breakMsMin ? until : null;
  }

  get unfinished(): readonly RunFacts[] {
    return [...this.#parts.facts()].filter((facts) => !this.#rests(facts));
  }

  #rests({ record, isCurrent }: RunFacts): boolean {
    const { status, executing, dueAt } = record;
    if (!isCurrent || isTerminal(status) || status === "paused") return true;
    if (this.#parts.mustEnd) return false;
    return status === "waiting" && !executing && dueAt !== null && dueAt > this.#parts.world.now;
  }
}
