/** Time and chance of a simulated world, as code in it has them: in a process, or outside of all. */
import { parseDuration } from "../../../authoring/duration.ts";
import { createSeededRandom } from "../../seeded-random.ts";
import type { Choices } from "../choices.ts";
import type { Member } from "../fleet.ts";
import type { World } from "../world.ts";
import type { SimulatedClock, SimulatedRandom } from "./options.ts";
import { napping, type Worker } from "./works.ts";

export class TimeAndChance {
  readonly #world: World;
  readonly #choices: Choices;
  readonly #float: () => number;
  readonly #wakes = new Set<{ readonly at: number }>();

  constructor(world: World, choices: Choices) {
    this.#world = world;
    this.#choices = choices;
    this.#float = createSeededRandom(`${choices.seed}/chance`).float;
  }

  /** When code outside of all processes goes on by itself. */
  get wakesAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...Array.from(this.#wakes, ({ at }) => at));
  }

  /** Something outside of all processes goes on in this time, unless it is over before. */
  wakesIn(ms: number, isOver: Promise<unknown>): void {
    const wake = { at: this.#world.now + ms };
    const end = (): boolean => this.#wakes.delete(wake);
    this.#wakes.add(wake);
    isOver.then(end, end);
  }

  outside(what: string): Worker {
    return { what, process: null, now: () => this.#world.now, float: this.#float, naps: 0 };
  }

  inside({ process }: Member, what: string): Worker {
    return { what, process, now: () => Math.floor(process.runtime.now()), float: this.#float, naps: 0 };
  }

  clockOutside(): SimulatedClock {
    const world = this.#world;
    return {
      now: () => new Date(world.now),
      sleep: (duration) => {
        const ms = parseDuration(duration, "duration to sleep");
        const slept = world.sleep(ms);
        this.wakesIn(ms, slept);
        return napping(slept);
      },
    };
  }

  clockInside({ process }: Member): SimulatedClock {
    const { runtime } = process;
    return {
      now: () => new Date(runtime.now()),
      sleep: (duration) => {
        const ms = parseDuration(duration, "duration to sleep");
        return napping(
          new Promise((resolve) => {
            runtime.timer(resolve, ms);
          }),
        );
      },
    };
  }

  random(label: string): SimulatedRandom {
    const choices = this.#choices;
    return {
      chance: (probability) => choices.chance(`${label}: chance`, probability),
      below: (count) => choices.below(`${label}: below`, count),
      pick: (items) => choices.pick(`${label}: pick`, items),
    };
  }
}
