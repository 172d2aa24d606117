import { useSyncExternalStore } from "react";
import { serverNow } from "../api/server-clock.ts";

/** One clock for the whole page, so that everything moves together. It stands still while nobody looks. */
function clock(everyMs: number) {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let now = serverNow();
  const tick = (): void => {
    now = serverNow();
    for (const each of listeners) each();
  };
  return {
    tick,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      timer ??= setInterval(() => {
        if (document.visibilityState === "visible") tick();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    read(): number {
      // Whoever reads it without listening must not see it move: it would be drawn again and again.
      if (listeners.size === 0 && Math.abs(serverNow() - now) > everyMs) now = serverNow();
      return now;
    },
  };
}

const seconds = clock(1000);

/** What has come is of a moment after the last second: the whole page goes on to it, not a part alone. */
export function tickNow(): void {
  seconds.tick();
}

const still = (): (() => void) => () => {};

/** Now, to the second. What does not move any more need not be drawn again. */
export function useNow(isMoving = true): number {
  return useSyncExternalStore(isMoving ? seconds.subscribe : still, seconds.read);
}
