import type { AbandonOutcome } from "../model/request.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { AbandonRequest, OwnerHold, Ownership, Store } from "../store/store.ts";
import type { CommitGroup } from "./commit-group.ts";

export interface OwnerWatchParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly owner: string;
  readonly ifInterrupted: "retry" | "fail";
  /** Not more often than this. */
  readonly everyMs: number;
  readonly leaseMs: number;
  /** Work of a dead owner became due. */
  readonly onFound: () => void;
  readonly onProblem: (problem: unknown) => void;
}

/** How often an owner that was found dead is looked after again. */
const againMs = 1000;

/** An owner that was found dead. */
interface Death {
  /** By the monotonic clock: whatever it sent before it died gives no lease beyond this. */
  readonly over: number;
  caredAt: number;
}

/**
 * Shows this runner to be alive and notices others that are not, where the store can tell: their work goes on at once
 * instead of after its lease.
 */
export class OwnerWatch {
  readonly #parts: OwnerWatchParts;
  #hold: Promise<OwnerHold> | null = null;
  readonly #deaths = new Map<string, Death>();
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
    const { owner: self, runtime, leaseMs, onFound } = this.#parts;
    for (const owner of await ownership.findDead()) {
      if (owner === self) continue;
      const now = runtime.monotonic();
      await this.#abandon(owner);
      this.#deaths.set(owner, { over: now + leaseMs, caredAt: now });
      await ownership.bury(owner);
      onFound();
    }
    await this.#careAgain();
  }

  /** A claim or renewal that was on its way when its sender died may arrive after the death was noticed. */
  async #careAgain(): Promise<void> {
    const { runtime, onFound } = this.#parts;
    const now = runtime.monotonic();
    for (const [owner, death] of this.#deaths) {
      if (now - death.caredAt < againMs) continue;
      death.caredAt = now;
      const { runs } = await this.#abandon(owner);
      if (runs > 0) onFound();
      if (death.over < now) this.#deaths.delete(owner);
    }
  }

  #abandon(owner: string): Promise<AbandonOutcome> {
    return this.#parts.group.submit({ kind: "abandon", owner, fate: this.#fate() });
  }

  #fate(): AbandonRequest["fate"] {
    if (this.#parts.ifInterrupted === "retry") return { kind: "expire" };
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
