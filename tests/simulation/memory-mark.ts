/** The rows of a memory store as they are now, to go back to: records are frozen, so copies of the maps are enough. */
import type { MemoryDatabase } from "../../packages/everstep/src/stores/memory/database.ts";
import type { Instance, Run } from "../../packages/everstep/src/stores/memory/run.ts";

export function markMemory(database: MemoryDatabase): () => void {
  const { schemaVersion, lastRunId } = database;
  const instances = [...database.workflows.values()].flatMap(({ instances }) =>
    [...instances.values()].map((instance) => copyOf(instance)),
  );
  const eventIds = new Map(database.eventIds);
  const topics = [...database.topics].map(
    ([topic, waiters]) =>
      [topic, [...waiters].map(([name, { run, index }]) => [name, run.id, index] as const)] as const,
  );
  const publications = new Map(database.publications);
  const authorRows = new Map(database.authorRows);
  return () => {
    empty(database);
    Object.assign(database, { schemaVersion, lastRunId });
    for (const kept of instances) putBack(database, copyOf(kept));
    const runOf = (id: number): Run => database.runs.get(id) as Run;
    for (const [id, run] of eventIds) database.eventIds.set(id, run);
    for (const [topic, waiters] of topics)
      database.topics.set(
        topic,
        new Map(waiters.map(([name, run, index]) => [name, { run: runOf(run), index }])),
      );
    for (const [id, publication] of publications) database.publications.set(id, publication);
    for (const [key, row] of authorRows) database.authorRows.set(key, row);
  };
}

function copyOf(instance: Instance): Instance {
  const runs: Run[] = [];
  const copy: Instance = { ...instance, runs, changes: new Map(instance.changes) };
  for (const run of instance.runs)
    runs.push({
      ...run,
      instance: copy,
      steps: new Map(run.steps),
      open: new Map(run.open),
      events: new Map(run.events),
      undelivered: new Map(run.undelivered),
      logs: [...run.logs],
      queue: null,
      place: 0,
    });
  return copy;
}

function empty(database: MemoryDatabase): void {
  for (const run of database.runs.values()) run.queue?.remove(run);
  for (const { instances, leased } of database.workflows.values()) {
    instances.clear();
    leased.clear();
  }
  database.runs.clear();
  database.eventIds.clear();
  database.topics.clear();
  database.publications.clear();
  database.authorRows.clear();
}

function putBack(database: MemoryDatabase, instance: Instance): void {
  instance.workflow.instances.set(instance.instanceId, instance);
  for (const run of instance.runs) {
    database.runs.set(run.id, run);
    database.reschedule(run);
  }
}
