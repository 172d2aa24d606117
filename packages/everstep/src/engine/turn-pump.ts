import { leaseLost } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<
  TurnParts,
  | "run"
  | "records"
  | "life"
  | "schedule"
  | "timers"
  | "inFlight"
  | "commits"
  | "results"
  | "parked"
  | "steps"
  | "endings"
>;

/**
 * Runs after every drained microtask queue. It hands over at most one settlement, and when there is none it has what was
 * asked decided, commits, and finds out whether the turn is at its end.
 */
export class TurnPump {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  run(): void {
    try {
      this.#pump();
    } catch (problem) {
      this.#parts.endings.breakDown(problem);
    }
  }

  #pump(): void {
    const { run, records, life, schedule, commits, results, steps, endings } = this.#parts;
    if (!run.holdsLease()) return life.abandon(leaseLost("expired"));
    if (results.nextInside()) return schedule.pump();
    // The lease may be gone already: what is asked for now is for the next turn.
    if (commits.isEnding) return;
    if (life.isWindingDown) return this.#pumpDown();
    if (life.outcome === null && results.next()) return schedule.pump();
    if (life.outcome !== null) return endings.end();
    if (endings.endIfTimeIsUp()) return;
    if (!records.handOver.owes) steps.decideAll();
    if (life.isWindingDown) return this.#pumpDown();
    // Deciding may have handed over a wait that is over; what author code asks for next shares its commit.
    if (!schedule.isDrained || results.next()) return schedule.pump();
    if (commits.underWay) return this.#armTimer();
    if (endings.isQuiet) return this.#rest();
    schedule.busy();
    commits.flush();
    this.#armTimer();
  }

  /** Nothing in flight and nothing to hand over: either every branch waits, or author code is busy elsewhere. */
  #rest(): void {
    const { run, schedule, timers, commits, parked, endings } = this.#parts;
    if (parked.isEmpty) {
      commits.flush();
      this.#armTimer();
      timers.stalledAfter(run.definition.limits.stallTimeoutMs);
    } else if (!schedule.isIdle) {
      // Author code must have been idle for a whole macrotask before the turn may end.
      schedule.idle();
    } else if (!endings.endIfSuspendedTooLong()) {
      endings.suspend();
    }
  }

  /** Records what finished without handing it over; what was not begun is for the next turn, or for after the pause. */
  #pumpDown(): void {
    const { records, inFlight, commits, steps, endings } = this.#parts;
    steps.putBack();
    const uncommitted = records.handOver.placeAll();
    if (commits.underWay) return;
    if (uncommitted || inFlight.canFinish) return commits.flush();
    endings.yield();
  }

  /** A turn held open by a body still owes its other waits their time. */
  #armTimer(): void {
    this.#parts.timers.dueAt(this.#parts.endings.nextLook);
  }
}
