import { StoreError } from "../model/error.ts";
import type { ObservedStoreCall, Observer, StoreCallEnd } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import type { Store } from "../store/store.ts";
import { wrapStore } from "../store/wrap-store.ts";

/** A store that tells of its calls. While nobody listens a call is handed on as it is, with the store's own promise. */
export function observedStore(store: Store, observer: Observer, runtime: Pick<Runtime, "monotonic">): Store {
  return wrapStore(store, (verb, call) => (...given) => {
    if (observer.onStoreCallStart === undefined && observer.onStoreCallEnd === undefined)
      return call(...given);
    const [about] = given;
    const seen: ObservedStoreCall = { verb, size: Array.isArray(about) ? about.length : 1 };
    const since = runtime.monotonic();
    const end = (outcome: StoreCallEnd["outcome"], error: unknown): void => {
      observer.onStoreCallEnd?.(seen, { outcome, durationMs: runtime.monotonic() - since, error });
    };
    observer.onStoreCallStart?.(seen);
    const failed = (error: unknown): void =>
      end(error instanceof StoreError ? error.failure : "error", error);
    let answer: Promise<unknown>;
    try {
      // A store of the user's own may give a value, or a query that is run each time that somebody waits for it.
      answer = Promise.resolve(call(...given));
    } catch (error) {
      failed(error);
      throw error;
    }
    // Beside whoever asked, who gets the answer itself.
    answer.then(() => end("ok", null), failed);
    return answer;
  });
}
