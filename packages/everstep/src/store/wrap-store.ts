import type { Store } from "./store.ts";

type Methods<Type> = {
  [Name in keyof Type]-?: NonNullable<Type[Name]> extends (...given: never[]) => unknown ? Name : never;
}[keyof Type];

export type StoreMethod = Methods<Store>;

/** Every method of a store, in the order of the contract; the type sees to it that none is forgotten. */
const methods: Readonly<Record<StoreMethod, true>> = {
  migrate: true,
  write: true,
  writeWithin: true,
  claim: true,
  readRuns: true,
  renew: true,
  release: true,
  getInstance: true,
  getInstances: true,
  getStatuses: true,
  getMarks: true,
  listInstances: true,
  listRuns: true,
  listSteps: true,
  listEvents: true,
  listLogs: true,
  listWaiters: true,
  listTopics: true,
  countByStatus: true,
  nextDueAt: true,
  listDue: true,
  listUnlisted: true,
  prune: true,
  changeMark: true,
  subscribe: true,
  probeNudges: true,
  serverTime: true,
  beat: true,
  listRunners: true,
  readTallies: true,
  warnings: true,
  close: true,
};

export const storeMethods = Object.keys(methods) as readonly StoreMethod[];

/** What a method becomes; `call` makes the call on the store itself. */
export type WrapMethod = (
  method: StoreMethod,
  call: (...given: unknown[]) => Promise<unknown>,
) => (...given: unknown[]) => Promise<unknown>;

/** A store whose methods are wrapped: those of the list that it has. Everything else is as the store says. */
export function wrapStore(
  store: Store,
  wrap: WrapMethod,
  wrapped: readonly StoreMethod[] = storeMethods,
): Store {
  const made: Record<string, unknown> = {};
  for (const method of wrapped) {
    if (store[method] === undefined) continue;
    // Looked up with every call, as if the store itself were called.
    made[method] = wrap(method, (...given) =>
      (store[method] as (...given: unknown[]) => Promise<unknown>).apply(store, given),
    );
  }
  for (const name of ["name", "capabilities", "ownership", "writesAtOnce"] as const) {
    if (store[name] !== undefined)
      Object.defineProperty(made, name, { get: () => store[name], enumerable: true });
  }
  return made as unknown as Store;
}
