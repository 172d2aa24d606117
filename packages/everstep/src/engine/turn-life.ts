import type { Ending, RunOutcome } from "./ending.ts";
import type { TurnParts } from "./turn-parts.ts";

export type TurnState = "open" | "suspended" | "closed";

/**
 * Where a turn stands, and what it is going to end with.
 *
 *   open -> suspended -> open ...   every branch waits; a runner may keep the turn and resume it under its next lease.
 *                                   Author code may go on all the same: it is heard, and the run is made due
 *   open -> closed                  the run ended, was paused, yielded, or the lease is gone; nothing happens any more
 */
export class TurnLife {
  readonly #parts: Pick<TurnParts, "run" | "inFlight" | "bodies" | "timers">;
  #state: TurnState = "open";
  #outcome: RunOutcome | null = null;
  #isPaused = false;
  #givesWay = false;
  #suspendedAt = 0;
  /** Author code asked for more after the turn had ended, and the runner knows. */
  #wakeSent = false;
  /** The turn was cut off, and the run may wait for something else than what its author code is still going to ask for. */
  #isLost = false;
  #finish!: (ending: Ending) => void;
  #ended!: Promise<Ending>;

  constructor(parts: Pick<TurnParts, "run" | "inFlight" | "bodies" | "timers">) {
    this.#parts = parts;
    this.#expectEnding();
  }

  get state(): TurnState {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** How it ends, for its runner. */
  get ended(): Promise<Ending> {
    return this.#ended;
  }

  /** Since when it is suspended, by the monotonic clock. */
  get suspendedAt(): number {
    return this.#suspendedAt;
  }

  /** What the run came to; null while it goes on. */
  get outcome(): RunOutcome | null {
    return this.#outcome;
  }

  /** Pause, shutdown or a used-up step budget: bodies in flight may finish, nothing new begins. */
  get isWindingDown(): boolean {
    return this.#isPaused || this.#givesWay;
  }

  /** A person has paused the run, as far as the turn has heard. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Nothing says that it is about to end. */
  get goesOn(): boolean {
    return this.#outcome === null && !this.isWindingDown;
  }

  /** Whatever comes, the next turn goes on from here. */
  windDown(): void {
    this.#givesWay = true;
  }

  /** Winds down too, unless the run is resumed before that has come to its end. */
  paused(): void {
    this.#isPaused = true;
  }

  resumed(): void {
    this.#isPaused = false;
  }

  /** The run comes to this. */
  endWith(outcome: RunOutcome): void {
    this.#outcome = outcome;
  }

  /** What the workflow function came to does not hold: the next turn finds out what it comes to. */
  takeBackOutcome(): void {
    this.#outcome = null;
    this.#givesWay = true;
  }

  resume(): void {
    this.#wakeSent = false;
    // Nobody claims what is paused.
    this.#isPaused = false;
    this.#state = "open";
    this.#expectEnding();
  }

  suspend(dueAt: number): void {
    this.#state = "suspended";
    this.#suspendedAt = this.#parts.run.runtime.monotonic();
    this.#clearTimers();
    this.#finish({ kind: "suspended", dueAt });
  }

  /** Stops at once: bodies are told, their results are void. */
  abandon(reason: Error): void {
    // A suspended one has no bodies and is only forgotten: if its author code is still busy, it says so.
    if (this.#state !== "open") return;
    this.#isLost = true;
    this.close(() => reason, { kind: "lost", reason });
  }

  close(reason: () => Error, ending: Ending): void {
    const { inFlight } = this.#parts;
    this.#state = "closed";
    this.#clearTimers();
    if (inFlight.hasOpenEnds) inFlight.cancelAll(reason());
    this.#finish(ending);
  }

  /** The run waits for something else, and its author code goes on: it must be due now, or nobody would ever know. */
  wakeLate(): void {
    if (this.#wakeSent || (this.#state !== "suspended" && !this.#isLost)) return;
    this.#wakeSent = true;
    this.#parts.run.wake();
  }

  #clearTimers(): void {
    this.#parts.timers.clear();
    this.#parts.bodies.clearTimeouts();
  }

  #expectEnding(): void {
    this.#ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }
}
