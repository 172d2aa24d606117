import type { Runtime, Timer } from "../model/runtime.ts";

/** Time and randomness, as all fragments of a host share them. */
export interface FragnoRuntime {
  readonly time: {
    now(): Date;
    /** Milliseconds that never go backwards. Without it, the latest `now` there was. */
    monotonic?(): number;
    /** Calls back once, not before the delay. Without it, the host's own timers do, in real time. */
    timer?(callback: () => void, delayMs: number): Timer;
  };
  readonly random: {
    /** Uniform in [0, 1). */
    float(): number;
    uuid(): string;
    cuid(): string;
  };
}

/** What an app needs of it: every time it reads and every id it makes come from there. */
export function runtimeFrom({ time, random }: FragnoRuntime): Partial<Runtime> {
  const now = (): number => time.now().getTime();
  return {
    now,
    monotonic: time.monotonic ? () => (time.monotonic as () => number)() : neverBackwards(now),
    ...(time.timer
      ? { timer: (callback, delayMs) => (time.timer as Runtime["timer"])(callback, delayMs) }
      : {}),
    float: () => random.float(),
    uuid: () => random.uuid(),
    cuid: () => random.cuid(),
  };
}

/** The other way round: the system's runtime, or a test's, for a fragment. */
export function fragnoRuntime(runtime: Runtime): FragnoRuntime {
  return {
    time: {
      now: () => new Date(runtime.now()),
      monotonic: () => runtime.monotonic(),
      timer: (callback, delayMs) => runtime.timer(callback, delayMs),
    },
    random: { float: () => runtime.float(), uuid: () => runtime.uuid(), cuid: () => runtime.cuid() },
  };
}

// A test that moves its clock by an hour has let every lease run out, by the holder's own measure too.
function neverBackwards(now: () => number): () => number {
  let latest = Number.NEGATIVE_INFINITY;
  return () => {
    latest = Math.max(latest, now());
    return latest;
  };
}
