import type { RunnerParts } from "./runner-parts.ts";

type Parts = Pick<RunnerParts, "setup" | "memory" | "turns" | "dispatcher">;

/** How many more runs a runner may take: its places without those in use and those promised, as far as memory goes. */
export class Capacity {
  readonly #parts: Parts;
  #isCaughtUp = false;
  /** Places promised to creations whose outcome is not known yet. */
  #offered = 0;
  /** Places promised to claims under way, or taken by runs that are given up. */
  #reserved = 0;
  #offersSettled: (() => void) | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Nothing due is waiting behind what this runner already has. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** Runs that may be claimed now. */
  get room(): number {
    return this.#parts.memory.places(this.#freeSlots(), this.#reserved);
  }

  #freeSlots(): number {
    return this.#parts.setup.options.concurrency - this.#parts.turns.size - this.#offered - this.#reserved;
  }

  /** It looked for what is due and knows whether there is more. */
  looked(isMore: boolean): void {
    this.#isCaughtUp = !isMore;
  }

  /** Something is due that this runner had no place for. */
  fallBehind(): void {
    this.#isCaughtUp = false;
    this.#parts.dispatcher.nudge();
  }

  /** A place is free again, and something may wait for one. */
  lookIfBehind(): void {
    if (!this.#isCaughtUp) this.#parts.dispatcher.nudge();
  }

  reserve(places: number): void {
    this.#reserved += places;
  }

  free(places: number): void {
    this.#reserved -= places;
  }

  /** Promises a place to a creation, unless something that is due waits for one; false without. */
  offer(): boolean {
    const { memory, turns } = this.#parts;
    if (!this.#isCaughtUp || this.#freeSlots() <= 0 || memory.isFull) return false;
    if (this.#offered++ === 0) {
      const settled = new Promise<void>((resolve) => {
        this.#offersSettled = resolve;
      });
      void turns.arriving(settled);
    }
    return true;
  }

  /** The creation took it, or did not need it after all. */
  settleOffer(): void {
    if (--this.#offered === 0) this.#offersSettled?.();
  }
}
