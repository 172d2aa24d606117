/**
 * Times in which nothing can happen: everybody stands still until something is due, so that a month costs no more than a
 * moment. They count for nothing where it is asked how long things have been going wrong.
 */
import type { Fleet, Member } from "../fleet.ts";
import type { World } from "../world.ts";
import { lengthText, type Schedule } from "./schedule.ts";

export interface BreaksParts {
  readonly world: World;
  readonly fleet: Fleet;
  readonly schedule: Schedule;
  readonly onOver: () => void;
}

export class Breaks {
  readonly #parts: BreaksParts;
  isOn = false;
  /** How many there were. */
  count = 0;
  /** How long they took, all together. */
  sumMs = 0;

  constructor(parts: BreaksParts) {
    this.#parts = parts;
  }

  take(ms: number): void {
    const { world, fleet, schedule, onOver } = this.#parts;
    const members = fleet.places.flatMap(({ member }) => member ?? []);
    this.isOn = true;
    this.count++;
    for (const { process } of members) process.freeze();
    schedule.line("break", () => `nothing happens for ${lengthText(ms)}`);
    world.after(ms, () => {
      this.isOn = false;
      this.sumMs += ms;
      for (const { process } of members) process.thaw();
      onOver();
    });
  }

  /** Somebody woke it in the middle of one, because a time to stand still that began before was over. */
  woken({ process }: Member): void {
    if (!this.isOn) return;
    this.#parts.world.after(0, () => {
      if (this.isOn) process.freeze();
    });
  }
}
