/** The flat list of texts a script reads in order. */
export class Arguments {
  readonly list: string[] = [];

  /** Texts and whole numbers. */
  add(...values: readonly (string | number)[]): this {
    for (const value of values) this.list.push(typeof value === "string" ? value : String(value));
    return this;
  }

  flag(value: boolean): this {
    return this.add(value ? "1" : "0");
  }

  /** Empty for null. */
  number(value: number | null | undefined): this {
    return this.add(value ?? "");
  }

  /** A text or null, told apart by their first letter, so that the empty text is one too. */
  text(value: string | null | undefined): this {
    return this.add(value === null || value === undefined ? "-" : `+${value}`);
  }

  /** How many there are, then each. */
  each<Item>(items: readonly Item[], add: (item: Item) => void): this {
    this.add(items.length);
    for (const item of items) add(item);
    return this;
  }
}
