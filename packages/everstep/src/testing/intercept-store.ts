import type { Store, StoreRequest } from "../store/store.ts";

const methods = [
  "migrate",
  "write",
  "claim",
  "readRuns",
  "renew",
  "release",
  "getInstance",
  "getInstances",
  "getStatuses",
  "listInstances",
  "listRuns",
  "listSteps",
  "listEvents",
  "listLogs",
  "listWaiters",
  "listTopics",
  "countByStatus",
  "nextDueAt",
  "listDue",
  "prune",
  "remove",
  "close",
] as const satisfies readonly (keyof Store)[];

/** Beyond the core. Hints and the store's clock are left out: what happens when is for the test to say. */
const optional = [
  "writeWithin",
  "beat",
  "listRunners",
  "readTallies",
  "listUnlisted",
  "getMarks",
] as const satisfies readonly (keyof Store)[];

const kinds: Readonly<Record<StoreRequest["kind"], true>> = {
  create: true,
  commit: true,
  sendEvent: true,
  publish: true,
  change: true,
  wake: true,
  abandon: true,
};

/** Every word for what a call is about. */
export const storeVerbs: readonly string[] = [...methods, ...optional, ...Object.keys(kinds)];

export type StoreMethod = (typeof methods)[number] | (typeof optional)[number];

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
  const { name, capabilities, ownership, writesAtOnce } = store;
  const offered = optional.filter((method) => store[method] !== undefined);
  const intercepted = Object.fromEntries(
    [...methods, ...offered].map((method) => [
      method,
      (...args: unknown[]) => around(storeCall(method, args), () => invoke(store, method, args)),
    ]),
  ) as unknown as Pick<Store, (typeof methods)[number]>;
  return {
    ...intercepted,
    ...(name ? { name } : {}),
    capabilities,
    ...(ownership ? { ownership } : {}),
    ...(writesAtOnce ? { writesAtOnce } : {}),
  };
}

function storeCall(method: StoreMethod, args: readonly unknown[]): StoreCall {
  const requests = method === "write" ? (args[0] as readonly StoreRequest[]) : [];
  return { method, args, requests, verbs: [method, ...new Set(requests.map((request) => request.kind))] };
}

async function invoke(store: Store, method: StoreMethod, args: unknown[]): Promise<unknown> {
  return await (store[method] as (...args: unknown[]) => unknown).apply(store, args);
}
