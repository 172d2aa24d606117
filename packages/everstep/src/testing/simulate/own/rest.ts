/** Whether a world has come to its end, and how long nothing at all will happen in it. */
import { isTerminal } from "../../../model/instance.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { Fleet } from "../fleet.ts";
import type { Bodies } from "./bodies.ts";
import type { Caller } from "./caller.ts";

export interface RestParts {
  readonly now: () => number;
  readonly facts: () => Iterable<RunFacts>;
  readonly fleet: Fleet;
  readonly bodies: Bodies;
  readonly caller: Caller;
  readonly mustEnd: boolean;
  readonly isScenarioOver: () => boolean;
  /** When the scenario goes on by itself. */
  readonly scenarioWakesAt: () => number;
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
    const { now, facts, fleet, bodies, caller, scenarioWakesAt } = this.#parts;
    if (caller.isAsking || bodies.areUnderWay) return null;
    const areHere = fleet.places.every(
      ({ member, comesBack }) => (!member && !comesBack) || member?.process.state === "running",
    );
    if (!areHere) return null;
    let until = scenarioWakesAt();
    for (const { record, isCurrent } of facts()) {
      if (!isCurrent || isTerminal(record.status) || record.status === "paused") continue;
      if (record.executing || record.dueAt === null) return null;
      until = Math.min(until, record.dueAt);
    }
    return until - now() >= breakMsMin ? until : null;
  }

  get unfinished(): readonly RunFacts[] {
    return [...this.#parts.facts()].filter((facts) => !this.#rests(facts));
  }

  #rests({ record, isCurrent }: RunFacts): boolean {
    const { status, executing, dueAt } = record;
    if (!isCurrent || isTerminal(status) || status === "paused") return true;
    if (this.#parts.mustEnd) return false;
    return status === "waiting" && !executing && dueAt !== null && dueAt > this.#parts.now();
  }
}
