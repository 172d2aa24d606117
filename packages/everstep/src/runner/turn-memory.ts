import type { Turn } from "../engine/turn.ts";

/**
 * How much of stored values the turns in progress hold, so that no more runs are taken up than there is room for. A run
 * that has begun is never held back; where nothing is in progress one run always has room, however large it is.
 */
export class TurnMemory {
  readonly #maxBytes: number;
  readonly #turns = new Map<Turn, number>();
  #bytes = 0;
  /** What a run took on average when runs were last claimed. */
  #perRun = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get free(): number {
    return Math.max(0, this.#maxBytes - this.#bytes);
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /**
   * Of so many runs, those that there will be room for if they are like the ones before, beside those that a claim under way
   * may bring.
   */
  places(limit: number, underWay: number): number {
    const free = this.#maxBytes - this.#bytes - underWay * this.#perRun;
    if (free <= 0) return this.#turns.size + underWay === 0 ? Math.min(limit, 1) : 0;
    return this.#perRun === 0 ? limit : Math.min(limit, Math.max(1, Math.floor(free / this.#perRun)));
  }

  /** Runs were claimed which take so much each. */
  claimed(bytes: readonly number[]): void {
    if (bytes.length > 0) this.#perRun = bytes.reduce((sum, each) => sum + each, 0) / bytes.length;
  }

  enter(turn: Turn): void {
    this.#turns.set(turn, 0);
    this.grew(turn);
  }

  /** More was recorded of a turn in progress; those that have left may be told late. */
  grew(turn: Turn): void {
    const before = this.#turns.get(turn);
    if (before === undefined) return;
    const { bytes } = turn;
    this.#bytes += bytes - before;
    this.#turns.set(turn, bytes);
  }

  leave(turn: Turn): void {
    this.#bytes -= this.#turns.get(turn) ?? 0;
    this.#turns.delete(turn);
  }
}
