import { StoreError } from "../model/error.ts";
import type { Runtime } from "../model/runtime.ts";
import type { Store } from "../store/store.ts";
import { askAgainMs } from "./store-patience.ts";

/** It may have taken effect, or may still do so. */
export function mayHaveApplied(failure: unknown): boolean {
  return !(failure instanceof StoreError) || failure.failure === "ambiguous";
}

export interface UnheardParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly owner: string;
  readonly leaseMs: number;
  /** The store may not be used any more. */
  readonly isOver: () => boolean;
}

/**
 * Leases that were handed out with an answer that was lost: nobody takes their turns. They are given back by their token,
 * which is theirs alone, so that the runs need not wait until the leases run out. A store that fails is asked once in a
 * while for all of them together, for as long as the leases last.
 */
export class UnheardLeases {
  readonly #parts: UnheardParts;
  /** Tokens, with the monotonic time at which their leases are over. */
  readonly #tokens = new Map<number, number>();
  #giving: Promise<void> | null = null;

  constructor(parts: UnheardParts) {
    this.#parts = parts;
  }

  /** Resolves when the store has heard of it, or is not asked any more. */
  giveBack(token: number): Promise<void> {
    const { runtime, leaseMs } = this.#parts;
    this.#tokens.set(token, runtime.monotonic() + leaseMs);
    this.#giving ??= this.#giveAll().finally(() => {
      this.#giving = null;
    });
    return this.#giving;
  }

  async #giveAll(): Promise<void> {
    const { store, runtime, owner, isOver } = this.#parts;
    for (let failures = 0; ; ) {
      for (const [token, over] of this.#tokens) if (over <= runtime.monotonic()) this.#tokens.delete(token);
      if (this.#tokens.size === 0 || isOver()) return;
      const tokens = [...this.#tokens.keys()];
      try {
        const requests = tokens.map((token) => {
          return { kind: "abandon", owner, fate: { kind: "release", token } } as const;
        });
        await store.write(requests, runtime.now());
        for (const token of tokens) this.#tokens.delete(token);
        failures = 0;
      } catch (failure) {
        const delayMs = askAgainMs(failure, failures++, runtime);
        await new Promise<void>((resolve) => runtime.timer(resolve, delayMs));
      }
    }
  }
}
