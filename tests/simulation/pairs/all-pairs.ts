/** Every pair of operations, in every state in which at least one of them does what it is for. */
import { type Operation, operations } from "./operations.ts";
import type { Pair } from "./pair.ts";
import type { State } from "./stage.ts";

const runners = operations.filter(({ by }) => by === "runner");
const callers = operations.filter(({ by }) => by === "caller");
const claim = runners.find(({ name }) => name === "claim") as Operation;
const renew = runners.find(({ name }) => name === "renew") as Operation;
const holders = runners.filter((each) => each !== claim);

/** Two callers, wherever one of them is at home. */
export const callerPairs: readonly Pair[] = callers.flatMap((one, at) =>
  callers
    .slice(at)
    .flatMap((other) =>
      [...new Set<State>([one.home, other.home])].map((state): Pair => ({ one, other, state, lease: "own" })),
    ),
);

/** A runner that has the instance, or is about to take it, and a caller. */
export const mixedPairs: readonly Pair[] = runners.flatMap((one) =>
  callers.map((other): Pair => ({ one, other, state: one.home, lease: "own" })),
);

/** Two runners that are after it at once, and one that has lost it to the other without knowing. */
export const runnerPairs: readonly Pair[] = [
  { one: claim, other: claim, state: "due", lease: "own" },
  ...holders.flatMap((one) =>
    runners
      .filter((other) => mayTakeOver(one, other))
      .map((other): Pair => ({ one, other, state: one.home, lease: "lost" })),
  ),
];

/** Whoever takes over comes to a body again, and behind the first there is nothing to commit but the suspension. */
function mayTakeOver(one: Operation, other: Operation): boolean {
  if (other === claim) return true;
  if (one.name === "take an event" || other.name === "take an event") return false;
  return other.name !== "commit" || one.home === "in its first body";
}

/** What one process does about one instance at the same time. */
export const sharedPairs: readonly Pair[] = holders
  .filter((other) => other !== renew && other.isAtomic)
  .map((other): Pair => ({ one: renew, other, state: other.home, lease: "shared" }));
