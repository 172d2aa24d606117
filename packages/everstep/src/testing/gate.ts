import { currentBody, waiting } from "./body-watch.ts";
import { createDeferred } from "./deferred.ts";

/** Holds author code until the test lets it pass. */
export interface Gate {
  /** For the code under test: waits until the gate is open. */
  wait(): Promise<void>;
  /** For the test: lets everybody pass, now and later, and settles what follows. */
  open(): Promise<void>;
  /** How many have come to the gate so far, those that passed included. */
  readonly arrivals: number;
}

export function createGate(): Gate {
  const opened = createDeferred();
  const settles = new Set<() => Promise<void>>();
  let arrivals = 0;
  return {
    wait() {
      arrivals++;
      const body = currentBody();
      if (body) settles.add(body.settle);
      return waiting(opened.promise);
    },
    async open() {
      opened.resolve();
      for (const settle of settles) await settle();
    },
    get arrivals() {
      return arrivals;
    },
  };
}
