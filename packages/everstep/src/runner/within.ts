import type { Runtime, Timer } from "../model/runtime.ts";

/** Waits for the promise, but not longer than this; says whether it settled in time. Its failure is its own affair. */
export function within(runtime: Runtime, promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: Timer | null = null;
    const done = (): void => {
      timer?.cancel();
      resolve(true);
    };
    timer = runtime.timer(() => resolve(false), ms);
    promise.then(done, done);
  });
}
