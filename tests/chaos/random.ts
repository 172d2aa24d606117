/** Choices that repeat: the same seed makes the same ones in the same order. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1): mulberry32. */
  float(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.float() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError("There is nothing to pick from.");
    return items[Math.floor(this.float() * items.length)] as Item;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const rest = [...items];
    const order: Item[] = [];
    while (rest.length > 0) order.push(...rest.splice(Math.floor(this.float() * rest.length), 1));
    return order;
  }

  /** Another sequence that depends on this one: what one part draws does not move what the others draw. */
  branch(): Random {
    return new Random(Math.floor(this.float() * 4294967296));
  }
}
