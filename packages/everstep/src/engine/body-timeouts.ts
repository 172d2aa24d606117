import { StepTimeoutError } from "../authoring/errors.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Body } from "./body.ts";

/**
 * Ends bodies that take longer than they may. One timer serves all bodies of a turn: hardly any is ever late, so the
 * timer is left where it is when a body ends, and finds out when it fires whom it is for.
 */
export class BodyTimeouts {
  readonly #runtime: Runtime;
  readonly #running: () => readonly Body[];
  #timer: Timer | null = null;
  /** By the monotonic clock. */
  #timerAt = 0;

  constructor(runtime: Runtime, running: () => readonly Body[]) {
    this.#runtime = runtime;
    this.#running = running;
  }

  watch(body: Body, timeoutMs: number): void {
    if (!Number.isFinite(timeoutMs)) return;
    body.timeoutMs = timeoutMs;
    body.endsAt = this.#runtime.monotonic() + timeoutMs;
    this.#wakeAt(body.endsAt);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #wakeAt(at: number): void {
    if (this.#timer !== null && this.#timerAt <= at) return;
    this.clear();
    this.#timerAt = at;
    this.#timer = this.#runtime.timer(() => this.#fire(), Math.max(0, at - this.#runtime.monotonic()));
  }

  #fire(): void {
    this.#timer = null;
    const now = this.#runtime.monotonic();
    for (const body of [...this.#running()]) {
      if (body.endsAt > now) continue;
      body.isTimedOut = true;
      body.fail(new StepTimeoutError(body.call.name, body.timeoutMs, body.start));
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { endsAt } of this.#running()) next = Math.min(next, endsAt);
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }
}
