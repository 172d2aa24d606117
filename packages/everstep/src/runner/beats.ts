import { beatDefaults } from "../model/limits.ts";
import type { ObservedWrite, Observer } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import { withTimeout } from "../model/with-timeout.ts";
import type { CommitOutcome, RunnerRecord, Store } from "../store/store.ts";
import { Tallies } from "./tallies.ts";

export interface BeatsParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly owner: string;
  readonly concurrency: number;
  readonly workflows: readonly string[];
  /** A workflow of the engine's own: nobody is told of it. */
  readonly ownWorkflow?: string;
  /** Turns in progress. */
  readonly turns: () => number;
}

/**
 * Tells the store that this runner lives and what it got done, for people who look. It has no timer: a runner tells when
 * it looks for work anyway. Whatever goes wrong is of no concern to anybody: the next beat tells it all.
 */
export class Beats implements Observer {
  readonly tallies: Tallies = new Tallies();
  readonly #parts: BeatsParts;
  #startedAt: number | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;
  #telling: Promise<void> | null = null;
  #last: Promise<void> | null = null;

  constructor(parts: BeatsParts) {
    this.#parts = parts;
  }

  /** Counts what commits got done. */
  onWrite({ request, outcome, workflowName }: ObservedWrite): void {
    if (request.kind !== "commit" || outcome === null || workflowName === null) return;
    if (workflowName === this.#parts.ownWorkflow) return;
    const now = this.#parts.runtime.now();
    this.tallies.count(workflowName, request.boundary, outcome as CommitOutcome, now);
  }

  /** Tells, if the last time is long enough ago. */
  beat(): void {
    const { store, runtime } = this.#parts;
    this.#startedAt ??= runtime.now();
    const now = runtime.monotonic();
    if (!store.beat || this.#telling || this.#last || now - this.#toldAt < beatDefaults.everyMs) return;
    this.#toldAt = now;
    this.#telling = this.#tell(null).finally(() => {
      this.#telling = null;
    });
  }

  /** The same for hosts that may be put to sleep afterwards; a store that does not answer is not waited for. */
  async beatNow(): Promise<void> {
    this.beat();
    if (this.#telling) await withTimeout(this.#parts.runtime, beatDefaults.patienceMs, this.#telling);
  }

  /** The last one, which says that the runner stopped. */
  async stop(): Promise<void> {
    if (!this.#parts.store.beat || this.#startedAt === null) return;
    this.#last ??= this.#tellLast();
    await withTimeout(this.#parts.runtime, beatDefaults.patienceMs, this.#last);
  }

  async #tellLast(): Promise<void> {
    await this.#telling;
    await this.#tell(this.#parts.runtime.now());
  }

  async #tell(stoppedAt: number | null): Promise<void> {
    const { store, runtime } = this.#parts;
    const tallies = this.tallies.take();
    const forgetBefore = runtime.now() - beatDefaults.memoryMs;
    try {
      await store.beat?.({ runner: this.record(stoppedAt), tallies, forgetBefore });
    } catch {
      this.tallies.putBack(tallies);
    }
  }

  /** What there is to say of this runner now. */
  record(stoppedAt: number | null = null): RunnerRecord {
    const { runtime, owner, concurrency, workflows, turns } = this.#parts;
    const now = runtime.now();
    const { host, pid } = runtime.whereabouts?.() ?? { host: null, pid: null };
    return {
      ...{ owner, host, pid, stoppedAt },
      // Infinity is allowed, and no store has a number for it.
      concurrency: Math.min(concurrency, Number.MAX_SAFE_INTEGER),
      startedAt: this.#startedAt ?? now,
      seenAt: now,
      turns: stoppedAt === null ? turns() : 0,
      workflows: workflows.slice(0, beatDefaults.workflowsMax),
    };
  }
}
