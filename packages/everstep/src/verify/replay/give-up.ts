import type { Runtime, Timer } from "../../model/runtime.ts";

/** Turns of the event loop without any sign of life after which a clock that stands still is not waited for. */
const turnsMax = 10_000;

/**
 * The end of patience with code that shows no sign of life: after some time, or where the clock is in a test's hands and
 * does not move, after many turns of the event loop.
 */
export class GiveUp {
  /** Resolves when the time is up. */
  readonly timeIsUp: Promise<"time is up">;
  readonly #runtime: Runtime;
  readonly #patienceMs: number;
  readonly #signsOfLife: () => number;
  readonly #startedAt: number;
  #timer!: Timer;
  #resolve!: (answer: "time is up") => void;
  #isOver = false;
  #turns = 0;
  #seenInTurns = 0;

  constructor(runtime: Runtime, patienceMs: number, signsOfLife: () => number) {
    this.#runtime = runtime;
    this.#patienceMs = patienceMs;
    this.#signsOfLife = signsOfLife;
    this.#startedAt = runtime.monotonic();
    this.timeIsUp = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#wait();
    runtime.drained(this.#look);
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer.cancel();
  }

  #wait(): void {
    const seen = this.#signsOfLife();
    const ring = (): void => {
      if (this.#signsOfLife() === seen) this.#resolve("time is up");
      else this.#wait();
    };
    this.#timer = this.#runtime.timer(ring, this.#patienceMs);
  }

  readonly #look = (): void => {
    // A clock that moves will ring.
    if (this.#isOver || this.#runtime.monotonic() > this.#startedAt) return;
    const signs = this.#signsOfLife();
    this.#turns = signs === this.#seenInTurns ? this.#turns + 1 : 0;
    this.#seenInTurns = signs;
    if (this.#turns >= turnsMax) this.#resolve("time is up");
    else this.#runtime.drained(this.#look);
  };
}
