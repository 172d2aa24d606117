import type { Runtime, Timer } from "../model/runtime.ts";

/** The two times a turn in progress must not miss: the next wait's, and the end of patience with idle author code. */
export class TurnTimers {
  readonly #runtime: Runtime;
  readonly #onDue: () => void;
  readonly #onStalled: () => void;
  #timer: Timer | null = null;
  #timerAt = 0;
  #stall: Timer | null = null;

  constructor(runtime: Runtime, onDue: () => void, onStalled: () => void) {
    this.#runtime = runtime;
    this.#onDue = onDue;
    this.#onStalled = onStalled;
  }

  /** A turn held open by a body still owes its other waits their time. */
  dueAt(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timerAt <= at)) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    const fire = (): void => {
      this.#timer = null;
      this.#onDue();
    };
    this.#timer = this.#runtime.timer(fire, Math.max(0, at - this.#runtime.now()));
  }

  stalledAfter(stallMs: number): void {
    if (this.#stall) return;
    this.#stall = this.#runtime.timer(() => {
      this.#stall = null;
      this.#onStalled();
    }, stallMs);
  }

  cancelStall(): void {
    this.#stall?.cancel();
    this.#stall = null;
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.cancelStall();
  }
}
