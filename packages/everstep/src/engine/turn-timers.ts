import type { Timer } from "../model/runtime.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "schedule" | "endings">;

/** The two times a turn in progress must not miss: the next wait's, and the end of patience with idle author code. */
export class TurnTimers {
  readonly #parts: Parts;
  #timer: Timer | null = null;
  #timerAt = 0;
  #stall: Timer | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A turn held open by a body still owes its other waits their time. */
  dueAt(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timerAt <= at)) return;
    const { run, schedule } = this.#parts;
    this.#timer?.cancel();
    this.#timerAt = at;
    const fire = (): void => {
      this.#timer = null;
      schedule.pump();
    };
    this.#timer = run.runtime.timer(fire, Math.max(0, at - run.now()));
  }

  stalledAfter(stallTimeoutMs: number): void {
    if (this.#stall) return;
    const { run, endings } = this.#parts;
    this.#stall = run.runtime.timer(() => {
      this.#stall = null;
      endings.stalled();
    }, stallTimeoutMs);
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
