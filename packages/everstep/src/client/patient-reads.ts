import type { Runtime } from "../model/runtime.ts";
import { patiently } from "../runner/store-patience.ts";
import type { Store } from "../store/store.ts";

export type StoreReads = Pick<
  Store,
  | "getInstance"
  | "getStatuses"
  | "listInstances"
  | "listRuns"
  | "listSteps"
  | "listEvents"
  | "listLogs"
  | "listWaiters"
  | "countByStatus"
>;

/** Reads that outlast a store's passing failures, as writes do. */
export function patientReads(store: Store, runtime: Runtime): StoreReads {
  const patient =
    <Arguments extends unknown[], Result>(read: (...given: Arguments) => Promise<Result>) =>
    (...given: Arguments): Promise<Result> =>
      patiently(() => read.apply(store, given), runtime);
  return {
    getInstance: patient(store.getInstance),
    getStatuses: patient(store.getStatuses),
    listInstances: patient(store.listInstances),
    listRuns: patient(store.listRuns),
    listSteps: patient(store.listSteps),
    listEvents: patient(store.listEvents),
    listLogs: patient(store.listLogs),
    listWaiters: patient(store.listWaiters),
    countByStatus: patient(store.countByStatus),
  };
}
