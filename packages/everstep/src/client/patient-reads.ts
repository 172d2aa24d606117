import type { Runtime } from "../model/runtime.ts";
import type { Patience } from "../runner/store-patience.ts";
import type { Store } from "../store/store.ts";
import { InstanceReads } from "./instance-reads.ts";

export type StoreReads = Pick<
  Store,
  | "getInstance"
  | "listInstances"
  | "listRuns"
  | "listSteps"
  | "listEvents"
  | "listLogs"
  | "listWaiters"
  | "listTopics"
  | "listDue"
  | "countByStatus"
  | "readRuns"
  | "listUnlisted"
> &
  Required<Pick<Store, "listRunners" | "readTallies">>;

/** Reads that outlast a store's passing failures, as writes do. */
export function patientReads(store: Store, patience: Patience, runtime: Runtime): StoreReads {
  const patient =
    <Arguments extends unknown[], Result>(read: (...given: Arguments) => Promise<Result>) =>
    (...given: Arguments): Promise<Result> =>
      patience.patiently(() => read.apply(store, given));
  const getInstance = patient(store.getInstance);
  const together = new InstanceReads({ getInstance, getInstances: patient(store.getInstances) }, runtime);
  return {
    getInstance: (ref, runNumber) =>
      runNumber === undefined ? together.get(ref) : getInstance(ref, runNumber),
    listInstances: patient(store.listInstances),
    listRuns: patient(store.listRuns),
    listSteps: patient(store.listSteps),
    listEvents: patient(store.listEvents),
    listLogs: patient(store.listLogs),
    listWaiters: patient(store.listWaiters),
    listTopics: patient(store.listTopics),
    listDue: patient(store.listDue),
    countByStatus: patient(store.countByStatus),
    readRuns: patient(store.readRuns),
    ...(store.listUnlisted ? { listUnlisted: patient(store.listUnlisted) } : {}),
    // A store need not keep these.
    listRunners: store.listRunners ? patient(store.listRunners) : async () => [],
    readTallies: store.readTallies ? patient(store.readTallies) : async () => [],
  };
}
