import type { Runtime, Timer } from "../model/runtime.ts";
import type { AbandonRequest, OwnerHold, Ownership, Store } from "../store/store.ts";
import type { CommitGroup } from "./commit-group.ts";

export interface OwnerWatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly owner: string;
  readonly onInterrupted: "resume" | "error";
  /** Not more often than this. */
  readonly everyMs: number;
  /** Work of a dead owner became due. */
  readonly onFound: () => void;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Shows this runner to be alive and notices others that are not, where the store can tell: their work goes on at once
 * instead of after its lease.
 */
export class OwnerWatch {
  readonly #parts: OwnerWatchParts;
  #hold: Promise<OwnerHold> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #running = false;

  constructor(parts: OwnerWatchParts) {
    this.#parts = parts;
  }

  async hold(): Promise<void> {
    const { store, owner, onProblem } = this.#parts;
    if (!store.ownership) return;
    this.#hold ??= store.ownership.hold(owner);
    // Without the lock others wait for the lease to run out; everything else works.
    await this.#hold.catch(onProblem);
  }

  /** Looking costs little and polling may have slowed down: an idle runner too notices a death within a second. */
  start(): void {
    if (!this.#parts.store.ownership) return;
    this.#running = true;
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#timer?.cancel();
    const hold = await this.#hold?.catch(() => null);
    await hold?.release().catch(this.#parts.onProblem);
  }

  /** Looks for dead owners, if it has not just done so. Never fails: without it their leases run out by themselves. */
  async look(): Promise<void> {
    const { store, runtime, everyMs, onProblem } = this.#parts;
    const now = runtime.monotonic();
    if (!store.ownership || now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    await this.#careForTheDead(store.ownership).catch(onProblem);
  }

  async #careForTheDead(ownership: Ownership): Promise<void> {
    const { group, owner: self, onFound } = this.#parts;
    for (const owner of await ownership.findDead()) {
      if (owner === self) continue;
      await group.submit({ kind: "abandon", owner, fate: this.#fate() });
      await ownership.bury(owner);
      onFound();
    }
  }

  #fate(): AbandonRequest["fate"] {
    if (this.#parts.onInterrupted === "resume") return { kind: "expire" };
    const error = { name: "Error", message: "interrupted by restart", code: "INTERRUPTED_BY_RESTART" };
    return { kind: "error", error };
  }

  #arm(): void {
    if (!this.#running) return;
    this.#timer = this.#parts.runtime.timer(() => {
      void this.look().then(() => this.#arm());
    }, this.#parts.everyMs * 2);
  }
}
