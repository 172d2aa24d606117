/** For tests: a clock that stands still until it is told to move, and randomness that repeats. */
import type { Runtime } from "../model/runtime.ts";

export interface ManualRuntime extends Runtime {
  /** Moves the clock, calling back every timer on the way at its own time, and lets all that follows happen. */
  advance(ms: number): Promise<void>;
  /** Moves the clock and nothing else: timers that became due stay silent until `advance`. */
  jump(ms: number): void;
  /** Resolves when nothing is left to do at this moment. */
  quiet(): Promise<void>;
  /** Resolves when the condition holds; for work that leaves the process, which no clock rules. */
  until(condition: () => boolean): Promise<void>;
  /** The delays of the timers that are set, soonest first. */
  timers(): readonly number[];
  /** What `float` gives from now on. */
  roll(value: number | (() => number)): void;
}

interface ManualTimer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

export function createManualRuntime(
  system: Pick<Runtime, "drained" | "createScope">,
  startAt = 1_750_000_000_000,
): ManualRuntime {
  const timers = new Set<ManualTimer>();
  let now = startAt;
  let made = 0;
  let pending = 0;
  let dice = (): number => 0.5;

  const slot = (): Promise<void> => new Promise((resolve) => system.drained(resolve));
  const byTime = (a: ManualTimer, b: ManualTimer): number => a.at - b.at || a.order - b.order;
  const nextTimer = (): ManualTimer | undefined => [...timers].sort(byTime)[0];

  const quiet = async (): Promise<void> => {
    // Three empty slots in a row: whoever waits for one in between has had its chance to ask for more.
    for (let empty = 0; empty < 3; empty = pending === 0 ? empty + 1 : 0) await slot();
  };

  return {
    now: () => now,
    monotonic: () => now - startAt,
    timer(callback, delayMs) {
      const timer = { at: now + Math.max(0, delayMs), order: made++, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    drained(callback) {
      pending++;
      system.drained(() => {
        pending--;
        callback();
      });
    },
    float: () => dice(),
    uuid: () => `00000000-0000-4000-8000-${String(++made).padStart(12, "0")}`,
    cuid: () => `c${String(++made).padStart(23, "0")}`,
    createScope: () => system.createScope(),

    async advance(ms) {
      const target = now + ms;
      await quiet();
      for (let timer = nextTimer(); timer && timer.at <= target; timer = nextTimer()) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
        await quiet();
      }
      now = target;
      await quiet();
    },
    jump(ms) {
      now += ms;
    },
    quiet,
    async until(condition) {
      for (let slots = 0; !condition(); slots++) {
        if (slots > 100_000) throw new Error("What was waited for did not happen.");
        await slot();
      }
    },
    timers: () => [...timers].sort(byTime).map(({ at }) => at - now),
    roll(value) {
      dice = typeof value === "number" ? () => value : value;
    },
  };
}
