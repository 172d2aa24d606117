/** Everything that a store tells of what it holds, as plain data. */
import type { InstanceRecord, RunId, Store } from "everstep/store";

const page = { limit: 100 } as const;

export async function readGoldenStore(store: Store) {
  const { items } = await store.listInstances({ ...page, order: "asc" });
  const instances = [];
  for (const current of items) {
    const runs = [];
    for (const run of await store.listRuns(current, 100)) runs.push(await readRun(store, run));
    instances.push({ name: `${current.workflowName}/${current.instanceId}`, runs });
  }
  const waiters = (await store.listWaiters("news.daily", page)).items;
  return { counts: await store.countByStatus(), waiters, instances };
}

export type GoldenRecords = Awaited<ReturnType<typeof readGoldenStore>>;

async function readRun(store: Store, record: InstanceRecord) {
  const { runId } = record;
  const [history] = await store.readRuns([{ runId: runId as RunId, steps: true, eventsAfter: 0 }]);
  return {
    record,
    steps: (await store.listSteps(runId, page)).items,
    events: (await store.listEvents(runId, page)).items,
    logs: (await store.listLogs(runId, page)).items,
    undelivered: history?.kind === "history" ? history.events.map(({ id }) => id) : null,
  };
}
