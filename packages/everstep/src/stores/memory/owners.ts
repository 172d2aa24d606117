import type { OwnerHold, Ownership } from "../../store/index.ts";

/** Proof of life for processes that are only played: an owner is dead once a test says so. */
export class Owners implements Ownership {
  readonly #held = new Set<string>();
  readonly #dead = new Set<string>();

  async hold(owner: string): Promise<OwnerHold> {
    this.#held.add(owner);
    return {
      release: async () => {
        this.#held.delete(owner);
      },
    };
  }

  async findDead(): Promise<readonly string[]> {
    return [...this.#dead];
  }

  async bury(owner: string): Promise<void> {
    this.#dead.delete(owner);
  }

  /** The owner's process is gone, without having let go of anything. */
  kill(owner: string): void {
    if (this.#held.delete(owner)) this.#dead.add(owner);
  }
}
