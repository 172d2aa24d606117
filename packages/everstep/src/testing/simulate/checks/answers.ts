/** What callers are told of what they asked for: the truth about creations (INV-36), and no failure that was not outlasted (INV-42). */
import { EverstepError, StoreError } from "../../../model/error.ts";
import type { Finding } from "../finding.ts";

/** All tries of a call together take at least this long, however short the store's answers are. */
const triesMsMin = 75;

export class Answers {
  readonly #isReachable: boolean;
  /** How many asked for an instance of this id. */
  readonly #asked = new Map<string, number>();
  readonly #created = new Set<string>();

  /** `isReachable`: no process is ever cut off, so that nobody's patience ends while others only begin to wait. */
  constructor(isReachable: boolean) {
    this.#isReachable = isReachable;
  }

  /** The store has lost what it had told of. */
  mark(): () => void {
    return () => {
      for (const id of [...this.#asked.keys()]) this.unclear(id);
    };
  }

  /** Nobody can say from now on who was told what of this id. */
  unclear(id: string): void {
    this.#asked.set(id, Number.POSITIVE_INFINITY);
    this.#created.delete(id);
  }

  /** Somebody asks for a new instance; says whether another was told of it before. */
  asks(id: string): boolean {
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
    return this.#created.has(id);
  }

  /**
   * Who asks for an id after another was told that it is his does not hear the same. Two who ask at once for the same in
   * everything may.
   */
  created(id: string, isTaken: boolean): readonly Finding[] {
    if (this.#asked.get(id) !== Number.POSITIVE_INFINITY) this.#created.add(id);
    return isTaken ? [{ invariant: "INV-36", message: `two were told that they created "${id}"` }] : [];
  }

  /** Whoever is the only one to ask for an id does not hear that it is taken. */
  notCreated(id: string, error: unknown): readonly Finding[] {
    const exists = error instanceof EverstepError && error.code === "INSTANCE_ID_ALREADY_EXISTS";
    if (!exists || this.#asked.get(id) !== 1) return [];
    return [{ invariant: "INV-36", message: `whoever created "${id}" was told that it was there already` }];
  }

  /** A passing failure reaches a caller after it was tried again a few times. */
  failed(what: string, error: unknown, tookMs: number): readonly Finding[] {
    if (!this.#isReachable || !(error instanceof StoreError)) return [];
    if (!error.retryable || tookMs >= triesMsMin) return [];
    return [
      {
        invariant: "INV-42",
        message: `${what} failed after ${tookMs.toFixed(1)} ms with a passing failure: ${error.failure}`,
      },
    ];
  }
}
