/** What callers are told of what they asked for: the truth about creations (INV-36), and no failure that was not outlasted (INV-42). */
import { EverstepError, StoreError } from "../../../packages/everstep/src/model/error.ts";
import type { StoreOutcome } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";

/** All tries of a call together take at least this long, however short the store's answers are. */
const triesMsMin = 75;

/** What somebody knew who asked for a new instance. */
export interface Asked {
  readonly id: string;
  /** Another was told before that it is his. */
  readonly isTaken: boolean;
  /** How often the store had lost an instance of this id. */
  readonly losses: number;
}

export class Answers {
  readonly #isReachable: boolean;
  /** How many asked for an instance of this id. */
  readonly #asked = new Map<string, number>();
  /** Ids of which somebody was told that the instance is his, and it stands. */
  readonly #told = new Set<string>();
  /** Ids that the store knows of. */
  #standing: ReadonlySet<string> = new Set();
  /** How often the store has lost an instance. */
  readonly #losses = new Map<string, number>();

  /** `isReachable`: no process is ever cut off, so that nobody's patience ends while others only begin to wait. */
  constructor(isReachable: boolean) {
    this.#isReachable = isReachable;
  }

  /** A store that goes back in time loses what it has created since then, and nothing else. */
  mark(): () => void {
    const standing = this.#standing;
    return () => {
      for (const id of this.#standing) if (!standing.has(id)) this.#lost(id);
      this.#standing = standing;
    };
  }

  #lost(id: string): void {
    this.#told.delete(id);
    this.#losses.set(id, this.#lossesOf(id) + 1);
  }

  #lossesOf(id: string): number {
    return this.#losses.get(id) ?? 0;
  }

  applied({ method, requests }: StoreCall, answer: unknown): void {
    if (method !== "write") return;
    for (const [at, outcome] of (answer as readonly StoreOutcome[]).entries()) {
      const request = requests[at];
      if (request?.kind === "create" && outcome.kind === "created")
        this.#standing = new Set([...this.#standing, request.instanceId]);
    }
  }

  /** Nobody can say from now on who was told what of this id. */
  unclear(id: string): void {
    this.#asked.set(id, Number.POSITIVE_INFINITY);
    this.#told.delete(id);
  }

  /** Somebody asks for a new instance. */
  asks(id: string): Asked {
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1);
    return { id, isTaken: this.#told.has(id), losses: this.#lossesOf(id) };
  }

  /**
   * Who asks for an id after another was told that it is his does not hear the same. Two who ask at once for the same in
   * everything may, and who asked before the other's was lost.
   */
  created({ id, isTaken, losses }: Asked): readonly Finding[] {
    if (losses !== this.#lossesOf(id)) return [];
    if (this.#asked.get(id) !== Number.POSITIVE_INFINITY) this.#told.add(id);
    return isTaken ? [{ invariant: "INV-36", message: `two were told that they created "${id}"` }] : [];
  }

  /** Whoever is the only one to ask for an id does not hear that it is taken, unless it was lost before he could look. */
  notCreated({ id, losses }: Asked, error: unknown): readonly Finding[] {
    const exists = error instanceof EverstepError && error.code === "INSTANCE_ID_ALREADY_EXISTS";
    if (!exists || this.#asked.get(id) !== 1 || losses !== this.#lossesOf(id)) return [];
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
