/**
 * How far what a turn has written is durable. Every write into its draft has a number, and so has what waits for one: a
 * body must not begin, and what a commit may refuse is not handed over, before the last write of that moment is durable.
 */
export class Durability {
  #written = 0;
  #sent = 0;
  #durable = 0;

  /** The last write so far. */
  get written(): number {
    return this.#written;
  }

  /** The last write that was part of a commit. */
  get sent(): number {
    return this.#sent;
  }

  /** The last write that is known to be durable. */
  get durable(): number {
    return this.#durable;
  }

  /** Nothing waits for a commit. */
  get isComplete(): boolean {
    return this.#written <= this.#durable;
  }

  /** Something was written, or has to be before a body may begin. Gives its number. */
  write(): number {
    return ++this.#written;
  }

  /** Everything up to this write is part of the commit under way. */
  send(upTo: number): void {
    this.#sent = upTo;
  }

  /** Everything up to this write is durable. */
  commit(upTo: number): void {
    this.#durable = upTo;
  }
}
