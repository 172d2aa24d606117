/**
 * Time and order in the hands of a simulation. Everything that happens is one moment: a timer that is due, a message
 * that arrives, a callback that waited for the microtasks to drain. One moment runs, then all microtasks that follow
 * from it, then the next. So the order of moments is the only order there is, and the seed decides it.
 */
import type { Runtime, Timer } from "../../model/runtime.ts";
import { systemRuntime } from "../../system-runtime.ts";
import { createSeededRandom } from "../seeded-random.ts";
import { TimerQueue } from "../timer-queue.ts";

const start = Date.UTC(2026, 0, 1);
/** Moments that are queued with the host at once: a turn of its loop costs more than most moments. */
const batch = 64;

export class World {
  /** As of a process whose clocks are right. */
  readonly runtime: Runtime;
  /** How many moments there were. */
  moments = 0;
  #elapsed = 0;
  readonly #timers = new TimerQueue();
  readonly #ready: (() => void)[] = [];
  #readyFrom = 0;
  /** Ways to stop hearing of stray errors: processes that were killed in a world never ask for it. */
  readonly #deafen: (() => void)[] = [];

  constructor(seed: number | string) {
    const random = createSeededRandom(`${seed}/runtime`);
    let cuids = 0;
    this.runtime = {
      now: () => this.now,
      monotonic: () => this.#elapsed,
      timer: (callback, delayMs) => this.after(delayMs, callback),
      drained: (callback) => void this.#ready.push(callback),
      float: random.float,
      uuid: random.uuid,
      cuid: () => `c${(cuids++).toString(36).padStart(8, "0")}${random.digits(16)}`,
      weakReference: (value) => ({ deref: () => value }),
      createScope: systemRuntime.createScope,
      onStrayError: (handler) => {
        const deafen = systemRuntime.onStrayError?.(handler) ?? (() => {});
        this.#deafen.push(deafen);
        return deafen;
      },
    };
  }

  /** Nobody in it hears anything any more, so that nothing outside keeps it in memory. */
  close(): void {
    for (const deafen of this.#deafen.splice(0)) deafen();
  }

  /** The true time, epoch milliseconds. */
  get now(): number {
    return Math.floor(start + this.#elapsed);
  }

  /** Milliseconds since the world began. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** A moment of its own, this much later. */
  after(delayMs: number, callback: () => void): Timer {
    return this.#timers.add(this.#elapsed + (delayMs > 0 ? delayMs : 0), callback);
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Moment after moment until it is over, or nothing is left to happen. What a moment throws ends it. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let queued = 0;
      let hasEnded = false;
      const end = (settle: () => void): void => {
        hasEnded = true;
        settle();
      };
      const turn = (): void => {
        queued--;
        if (hasEnded) return;
        try {
          if (isOver() || !this.#moment()) return end(resolve);
        } catch (error) {
          return end(() => reject(error));
        }
        if (queued === 0) queue();
      };
      const queue = (): void => {
        while (queued < batch) {
          queued++;
          systemRuntime.drained(turn);
        }
      };
      queue();
    });
  }

  #moment(): boolean {
    const next = this.#nextReady() ?? this.#nextTimer();
    if (!next) return false;
    this.moments++;
    next();
    return true;
  }

  #nextReady(): (() => void) | undefined {
    const next = this.#ready[this.#readyFrom];
    if (next === undefined) return undefined;
    this.#readyFrom++;
    if (this.#readyFrom === this.#ready.length) {
      this.#ready.length = 0;
      this.#readyFrom = 0;
    }
    return next;
  }

  #nextTimer(): (() => void) | undefined {
    const at = this.#timers.nextAt;
    if (at === undefined) return undefined;
    this.#elapsed = Math.max(this.#elapsed, at);
    return this.#timers.takeDue(at)?.callback;
  }
}
