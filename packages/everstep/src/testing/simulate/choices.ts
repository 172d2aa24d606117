/**
 * Everything a simulation leaves to chance, drawn by label. Each label has a stream of its own, so one more draw of one
 * kind moves no other, and what was drawn can be kept as a tape and played again, also after it was cut down: what a
 * tape does not say is 0, the simplest choice (no fault, no delay, the first of a list).
 */
import { createSeededRandom, type SeededRandom } from "../seeded-random.ts";

/** What was drawn, by label, in order. */
export type Tape = Readonly<Record<string, readonly number[]>>;

interface Stream {
  readonly random: SeededRandom;
  readonly drawn: number[];
}

export class Choices {
  readonly seed: number | string;
  readonly #taped: Tape | null;
  readonly #streams = new Map<string, Stream>();

  constructor(seed: number | string, tape: Tape | null = null) {
    this.seed = seed;
    this.#taped = tape;
  }

  /** A whole number from 0 to `count` - 1. */
  below(label: string, count: number): number {
    return this.#draw(label, count - 1, (random) => Math.floor(random.float() * count));
  }

  /** From `least` to `most`, both possible; the least is the simplest. */
  between(label: string, least: number, most: number): number {
    return least + this.below(label, most - least + 1);
  }

  chance(label: string, probability: number): boolean {
    return this.#draw(label, 1, (random) => (random.float() < probability ? 1 : 0)) === 1;
  }

  /** One of a list whose first is the simplest. */
  pick<Item>(label: string, items: readonly Item[]): Item {
    return items[this.below(label, items.length)] as Item;
  }

  /** One of the names, as often as its weight says; the first is the simplest. */
  weighted<Name extends string>(label: string, weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    const sum = names.reduce((total, name) => total + weights[name], 0);
    const place = this.#draw(label, names.length - 1, (random) => {
      let left = random.float() * sum;
      const found = names.findIndex((name) => {
        left -= weights[name];
        return left < 0;
      });
      return Math.max(0, found);
    });
    return names[place] as Name;
  }

  /** Of one hundred lengths from `simplest` to `other`, of which either may be longer; short ones as likely as long ones. */
  spread(label: string, simplest: number, other: number): number {
    const share = this.below(label, 100) / 99;
    return simplest * (other / simplest) ** share;
  }

  get tape(): Tape {
    return Object.fromEntries([...this.#streams].map(([label, { drawn }]) => [label, [...drawn]]));
  }

  #draw(label: string, most: number, make: (random: SeededRandom) => number): number {
    const stream = this.#stream(label);
    const value =
      this.#taped === null
        ? make(stream.random)
        : Math.max(0, Math.min(this.#taped[label]?.[stream.drawn.length] ?? 0, most));
    stream.drawn.push(value);
    return value;
  }

  #stream(label: string): Stream {
    let stream = this.#streams.get(label);
    if (!stream) {
      stream = { random: createSeededRandom(`${this.seed}/${label}`), drawn: [] };
      this.#streams.set(label, stream);
    }
    return stream;
  }
}
