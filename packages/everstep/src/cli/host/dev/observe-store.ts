/** Hears of every write to a store and of every run that is claimed, without being in the way of either. */
import type { App } from "../../../index.ts";

export type Store = App["store"];
export type StoreRequest = Parameters<Store["write"]>[0][number];
export type StoreOutcome = Awaited<ReturnType<Store["write"]>>[number];
export type Claim = Awaited<ReturnType<Store["claim"]>>[number];

export interface StoreObserver {
  onWritten(request: StoreRequest, outcome: StoreOutcome): void;
  onClaimed(claim: Claim): void;
}

/** The app holds the store already, so it is the store itself that learns to tell. */
export function observeStore(store: Store, observer: StoreObserver): void {
  const { write, claim } = store;
  const observed: Pick<Store, "write" | "claim"> = {
    async write(requests, now) {
      const outcomes = await write.call(store, requests, now);
      quietly(() => {
        for (const [at, request] of requests.entries()) tell(observer, request, outcomes[at]);
      });
      return outcomes;
    },
    async claim(request) {
      const claims = await claim.call(store, request);
      quietly(() => {
        for (const each of claims) observer.onClaimed(each);
      });
      return claims;
    },
  };
  quietly(() => Object.assign(store, observed));
}

function tell(observer: StoreObserver, request: StoreRequest, outcome: StoreOutcome | undefined): void {
  if (outcome !== undefined) observer.onWritten(request, outcome);
}

/** Whoever only looks on cannot disturb; and a store that cannot be changed is simply not heard. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // Nothing is shown then.
  }
}
