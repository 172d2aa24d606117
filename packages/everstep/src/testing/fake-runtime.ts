/**
 * A clock in the test's hands. Time stands still until the test moves it; randomness repeats with its seed; only the
 * order of promises and macrotasks is real, because the engine's order of hand-over is built on it.
 *
 *   const runtime = createFakeRuntime({ now: new Date("2026-01-01"), seed: 7 });
 *   const app = createWorkflows({ workflows, store, runtime });
 *   await runtime.advance("1 hour");       // each timer at its own time, everything that follows it first
 *   await runtime.settle();                // until nothing happens any more without the clock moving
 *
 * What cannot be seen: real timers, sockets and files that author code waits for. `settle` does not wait for them;
 * hand their promise to `track`, or say what must become true with `waitUntil`.
 */
import { type Duration, parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import { systemRuntime } from "../system-runtime.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { TimerQueue } from "./timer-queue.ts";

export interface FakeRuntimeOptions {
  /** What the clock says at first; default 2026-01-01T00:00:00Z. */
  readonly now?: Date | number;
  /** The same seed gives the same ids, jitter and other randomness; default 1. */
  readonly seed?: number | string;
  /** Asked when nothing else is going on: true when something outside is, so that `settle` waits on in real time. */
  readonly isBusy?: () => boolean;
}

export interface FakeRuntime extends Runtime {
  /** Moves the clock from timer to timer, letting everything that follows one settle before the next fires. */
  advance(duration: Duration): Promise<void>;
  /** The same, up to a time that is not in the past. */
  advanceTo(time: Date | number): Promise<void>;
  /** Sets the wall clock as an administrator would: no time passes and no timer fires. */
  setWallClock(time: Date | number): void;
  /** Resolves when nothing happens any more unless the clock moves. */
  settle(): Promise<void>;
  /** Settles again and again, in real time, until the condition holds. */
  waitUntil(condition: () => unknown, options?: WaitUntilOptions): Promise<void>;
  /** Work that `settle` shall wait for although it is done elsewhere: a database, a server. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  /** When the next timer is due; null when there is none. */
  nextTimerAt(): number | null;
}

export interface WaitUntilOptions {
  /** Real time after which it is given up; default 30 seconds. */
  readonly timeout?: Duration;
}

const defaultNow = Date.UTC(2026, 0, 1);

/** Turns of the event loop in a row without any sign of life before the system counts as settled. */
const quietTurnsNeeded = 3;
/** A system that is still lively after this many turns will never settle. */
const turnsMax = 100_000;
/** After this many turns `settle` is waiting for the outside world and stops spinning. */
const spinTurns = 200;

export function createFakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  const random = createSeededRandom(options.seed ?? 1);
  const timers = new TimerQueue();
  const isBusy = options.isBusy ?? (() => false);
  /** Time that has passed, which is what timers and the monotonic clock count. */
  let elapsed = 0;
  let wallAtStart = timeOf(options.now ?? defaultNow, "now");
  /** Signs of life: grows with everything that is scheduled, fired or finished. */
  let activity = 0;
  let drainsPending = 0;
  let tracked = 0;
  let cuids = 0;

  const now = (): number => wallAtStart + elapsed;

  function drained(callback: () => void): void {
    activity++;
    drainsPending++;
    systemRuntime.drained(() => {
      drainsPending--;
      activity++;
      callback();
    });
  }

  function timer(callback: () => void, delayMs: number): Timer {
    activity++;
    const at = elapsed + (delayMs > 0 ? Math.ceil(delayMs) : 0);
    const queued = timers.add(at, callback);
    // Due without the clock moving, as a real timer of no length is.
    if (at <= elapsed) drained(fireNext);
    return queued;
  }

  function fireNext(): void {
    const due = timers.takeDue(elapsed);
    if (!due) return;
    activity++;
    due.callback();
  }

  async function settle(): Promise<void> {
    let quietTurns = 0;
    for (let turn = 1; quietTurns < quietTurnsNeeded || isBusy(); turn++) {
      const before = activity;
      const isOutside = tracked > 0 || quietTurns >= quietTurnsNeeded;
      await (isOutside && turn > spinTurns ? realPause() : realTurn());
      const isQuiet = activity === before && drainsPending === 0 && tracked === 0;
      quietTurns = isQuiet ? quietTurns + 1 : 0;
      if (turn > turnsMax) throw restless();
    }
  }

  async function passTo(target: number): Promise<void> {
    await settle();
    for (let at = timers.nextAt; at !== undefined && at <= target; at = timers.nextAt) {
      elapsed = Math.max(elapsed, at);
      fireNext();
      await settle();
    }
    elapsed = Math.max(elapsed, target);
    await settle();
  }

  return {
    now,
    monotonic: () => elapsed,
    timer,
    drained,
    float: random.float,
    uuid: random.uuid,
    cuid: () => `c${base36(now(), 9)}${base36(cuids++, 4)}${random.digits(10)}`,
    whereabouts: () => ({ host: "test", pid: 1 }),
    weakReference: (value) => ({ deref: () => value }),
    createScope: systemRuntime.createScope,
    settle,
    advance: async (duration) => passTo(elapsed + parseDuration(duration, "duration to advance by")),
    async advanceTo(time) {
      const target = timeOf(time, "time to advance to");
      if (target < now()) throw backwards(target, now());
      await passTo(target - wallAtStart);
    },
    setWallClock(time) {
      wallAtStart = timeOf(time, "time to set the wall clock to") - elapsed;
    },
    async waitUntil(condition, waitOptions = {}) {
      const timeoutMs = parseDuration(waitOptions.timeout ?? "30 seconds", "timeout of waitUntil");
      const giveUpAt = systemRuntime.monotonic() + timeoutMs;
      for (await settle(); !(await condition()); await settle()) {
        if (systemRuntime.monotonic() >= giveUpAt) throw neverTrue(timeoutMs);
        await realPause();
      }
    },
    track(work) {
      activity++;
      tracked++;
      const end = (): void => {
        activity++;
        tracked--;
      };
      work.then(end, end);
      return work;
    },
    nextTimerAt() {
      const at = timers.nextAt;
      return at === undefined ? null : wallAtStart + at;
    },
  };
}

function realTurn(): Promise<void> {
  return new Promise((resolve) => systemRuntime.drained(resolve));
}

function realPause(): Promise<void> {
  return new Promise((resolve) => systemRuntime.timer(resolve, 1));
}

function timeOf(value: Date | number, what: string): number {
  const time = value instanceof Date ? value.getTime() : value;
  if (Number.isFinite(time)) return Math.ceil(time);
  throw new EverstepError("INVALID_ARGUMENT", `The ${what} must be a Date or epoch milliseconds.`);
}

function base36(value: number, width: number): string {
  return value.toString(36).padStart(width, "0");
}

function backwards(target: number, now: number): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The clock cannot go back from ${new Date(now).toISOString()} to ${new Date(target).toISOString()}. ` +
      "Use setWallClock to play a clock that was set back.",
  );
}

function restless(): Error {
  return new Error(
    "The system does not come to rest: something schedules more work again and again without any time passing.",
  );
}

function neverTrue(timeoutMs: number): Error {
  return new Error(`The condition of waitUntil did not become true within ${timeoutMs} ms of real time.`);
}
