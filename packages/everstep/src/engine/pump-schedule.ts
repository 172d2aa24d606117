import type { TurnParts } from "./turn-parts.ts";

/** When the pump runs: after every drained microtask queue in which something happened, once however much it was. */
export class PumpSchedule {
  readonly #parts: Pick<TurnParts, "run" | "life" | "pump">;
  #isScheduled = false;
  #isDrained = false;
  #isIdle = false;

  constructor(parts: Pick<TurnParts, "run" | "life" | "pump">) {
    this.#parts = parts;
  }

  /** A full drain has passed since the last hand-over. */
  get isDrained(): boolean {
    return this.#isDrained;
  }

  /** Author code has done nothing for a whole macrotask. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Something happened that the pump should look at. */
  pump(): void {
    if (this.#isScheduled || !this.#parts.life.isOpen) return;
    this.#isScheduled = true;
    this.#parts.run.runtime.drained(this.#drained);
  }

  /** Author code got something: what it does next is part of the same drain. */
  handedOver(): void {
    this.#isDrained = false;
  }

  busy(): void {
    this.#isIdle = false;
  }

  /** Gives author code a whole macrotask. */
  idle(): void {
    this.#isIdle = true;
    this.pump();
  }

  readonly #drained = (): void => {
    this.#isScheduled = false;
    this.#isDrained = true;
    if (this.#parts.life.isOpen) this.#parts.pump.run();
  };
}
