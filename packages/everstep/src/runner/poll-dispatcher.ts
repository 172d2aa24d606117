import { runnerDefaults } from "../model/limits.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import { askAgainMs } from "./store-patience.ts";

/** What a tick found, as far as the next one depends on it. */
export interface TickReport {
  readonly claimed: number;
  /** When the next run wants its turn; null when none does, undefined when nobody looked. */
  readonly nextDueAt: number | null | undefined;
}

export interface PollOptions {
  readonly pollMs: number;
  readonly minPollMs: number;
  readonly maxPollMs: number;
}

/** Polling shrinks while there is work and grows while there is none. */
export function nextPollMs(pollMs: number, foundWork: boolean, options: PollOptions): number {
  const next = pollMs * (foundWork ? runnerDefaults.pollShrink : runnerDefaults.pollGrow);
  return Math.min(options.maxPollMs, Math.max(options.minPollMs, next));
}

/**
 * Decides when a runner ticks: at once on a nudge, at the next due time it knows of, and in any case after the poll
 * interval, which is the guarantee; everything else only makes it sooner.
 */
export class PollDispatcher {
  readonly #runtime: Runtime;
  readonly #options: PollOptions;
  readonly #tick: () => Promise<TickReport>;
  #pollMs: number;
  #running = false;
  #ticking = false;
  #nudged = false;
  #scheduled = false;
  #timer: Timer | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  /** Due times heard of while a tick was under way. */
  #heardDueAt = Number.POSITIVE_INFINITY;
  /** Ticks in a row that failed. */
  #failures = 0;

  constructor(runtime: Runtime, options: PollOptions, tick: () => Promise<TickReport>) {
    this.#runtime = runtime;
    this.#options = options;
    this.#pollMs = options.pollMs;
    this.#tick = tick;
  }

  start(): void {
    this.#running = true;
    this.nudge();
  }

  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Something is due now. Many nudges make one tick. */
  nudge(): void {
    if (!this.#running) return;
    this.#nudged = true;
    // A store that fails is asked when its time has come, however much there would be to ask.
    if (this.#failures === 0) this.#begin();
  }

  #begin(): void {
    if (this.#ticking || this.#scheduled) return;
    this.#scheduled = true;
    this.#runtime.drained(() => {
      this.#scheduled = false;
      if (this.#running && !this.#ticking) void this.#run();
    });
  }

  /** A store that failed has answered somebody else: it need not be spared any longer. */
  recovered(): void {
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.nudge();
  }

  /** Something may be due soon, nobody knows when: polls begin with the shortest interval again. */
  hasten(): void {
    this.#pollMs = this.#options.minPollMs;
    this.nudge();
  }

  /** Something is due at this time. */
  dueAt(time: number): void {
    if (!this.#running) return;
    if (time <= this.#runtime.now()) return this.nudge();
    this.#heardDueAt = Math.min(this.#heardDueAt, time);
    if (!this.#ticking && this.#failures === 0) this.#arm(time);
  }

  async #run(): Promise<void> {
    this.#ticking = true;
    this.#nudged = false;
    const heardBefore = this.#heardDueAt;
    this.#heardDueAt = Number.POSITIVE_INFINITY;
    const report = await this.#tick().catch((failure: unknown) => ({ failure }));
    this.#ticking = false;
    if (!this.#running) return;
    if ("failure" in report) {
      this.#heardDueAt = Math.min(this.#heardDueAt, heardBefore);
      const delayMs = askAgainMs(report.failure, this.#failures++, this.#runtime);
      // However short its polls are: a store that is out of reach is spared by all alike.
      return this.#rearm(this.#runtime.now() + delayMs);
    }
    this.#failures = 0;
    this.#pollMs = nextPollMs(this.#pollMs, report.claimed > 0, this.#options);
    const now = this.#runtime.now();
    // What was heard of before stays in mind until a tick has looked, or its time has come.
    if (report.nextDueAt === undefined && heardBefore > now)
      this.#heardDueAt = Math.min(this.#heardDueAt, heardBefore);
    const known = Math.max(report.nextDueAt ?? Number.POSITIVE_INFINITY, now);
    this.#rearm(Math.min(now + this.#pollMs, known, this.#heardDueAt));
    if (this.#nudged) this.nudge();
  }

  #rearm(at: number): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#arm(at);
  }

  #arm(at: number): void {
    if (this.#timer && this.#timerAt <= at) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#runtime.timer(
      () => {
        this.#timer = null;
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.#begin();
      },
      Math.max(0, at - this.#runtime.now()),
    );
  }
}
