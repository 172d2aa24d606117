/** Changes what becomes of a store's calls: for tests that lose answers, hold calls back or let them fail. */
import type { Store, StoreRequest } from "../store/store.ts";
import { type StoreMethod as AnyMethod, storeMethods, wrapStore } from "../store/wrap-store.ts";

/** Hints and the store's clock are left out: what happens when is for the test to say. */
const leftOut = ["changeMark", "subscribe", "probeNudges", "serverTime", "warnings"] as const;

export type StoreMethod = Exclude<AnyMethod, (typeof leftOut)[number]>;

const methods = storeMethods.filter((method) => !leftOut.some((other) => other === method));

const kinds: Readonly<Record<StoreRequest["kind"], true>> = {
  create: true,
  commit: true,
  sendEvent: true,
  publish: true,
  change: true,
  delete: true,
  wake: true,
  abandon: true,
};

/** Every word for what a call is about. */
export const storeVerbs: readonly string[] = [...methods, ...Object.keys(kinds)];

/** What a call is about: the method, and for `write` also the kinds of the requests in it. */
export type StoreVerb = StoreMethod | StoreRequest["kind"];

export interface StoreCall {
  readonly method: StoreMethod;
  readonly verbs: readonly StoreVerb[];
  /** Of a `write`; empty for the others. */
  readonly requests: readonly StoreRequest[];
  readonly args: readonly unknown[];
}

/** What happens around a call; `apply` makes it. */
export type Around = (call: StoreCall, apply: () => Promise<unknown>) => Promise<unknown>;

/** A store whose calls all go through `around`. */
export function interceptStore(store: Store, around: Around): Store {
  return wrapStore(
    store,
    (method, call) =>
      (...args) =>
        around(storeCall(method as StoreMethod, args), async () => await call(...args)),
    methods,
  );
}

function storeCall(method: StoreMethod, args: readonly unknown[]): StoreCall {
  const requests = method === "write" ? (args[0] as readonly StoreRequest[]) : [];
  return { method, args, requests, verbs: [method, ...new Set(requests.map((request) => request.kind))] };
}
