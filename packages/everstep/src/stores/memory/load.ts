/** What a batch works on, out of the maps. Steps and events of a run are looked up when a rule asks for them. */
import type { InstanceRef } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import { changeKey, eventKey, publicationKey, publishedId, sent } from "../../store/apply/keys.ts";
import type { Needs } from "../../store/apply/needs.ts";
import type { BufferedEvent, KnownWait, RunShelf, TakenEvent } from "../../store/apply/working-run.ts";
import { WorkingSet } from "../../store/apply/working-set.ts";
import type { PublishRequest } from "../../store/index.ts";
import type { MemoryDatabase } from "./database.ts";
import { currentRun, type Run } from "./run.ts";

export function load(database: MemoryDatabase, needs: Needs): WorkingSet {
  const set = new WorkingSet(() => database.takeRunId());
  for (const id of needs.runs) addRun(set, database.runs.get(id));
  for (const ref of needs.names.values()) addRun(set, currentOf(database, ref));
  for (const [name, ref] of needs.creates) {
    const row = currentOf(database, ref)?.row;
    if (row !== undefined) set.existing.set(name, { status: row.status, runNumber: row.runNumber });
  }
  for (const { owner } of needs.abandons) {
    for (const run of database.runs.values()) if (run.row.owner === owner) addRun(set, run);
  }
  for (const { ref, id } of needs.eventIds) {
    const instance = database.find(ref);
    if (instance !== undefined) addEventId(set, database, eventKey(instance.id, sent(id)));
  }
  for (const publish of needs.publishes) addPublish(set, database, publish);
  for (const { ref, id } of needs.changes) {
    const outcome = database.find(ref)?.changes.get(id);
    if (outcome !== undefined) set.changes.set(changeKey(ref, id), outcome);
  }
  return set;
}

function currentOf(database: MemoryDatabase, ref: InstanceRef): Run | undefined {
  const instance = database.find(ref);
  return instance && currentRun(instance);
}

function addRun(set: WorkingSet, run: Run | undefined): void {
  if (run === undefined || set.runs.has(run.id)) return;
  const { id, workflowName, instanceId, retentionMs } = run.instance;
  const instance = { id, workflowName, instanceId, retentionMs, request: null, isMoved: false };
  set.add({ ...run.row }, instance, false, new Shelf(run));
}

function addEventId(set: WorkingSet, { eventIds }: MemoryDatabase, key: string): void {
  const run = eventIds.get(key);
  if (run !== undefined) set.eventIds.set(key, run);
}

function addPublish(set: WorkingSet, database: MemoryDatabase, { id, topic }: PublishRequest): void {
  const key = publicationKey({ topic, id });
  const made = database.publications.get(key);
  if (made !== undefined) set.publications.set(key, { waiters: made.waiters, runIds: made.runIds });
  for (const { run, index } of database.topics.get(topic)?.values() ?? []) {
    addRun(set, run);
    addEventId(set, database, eventKey(run.instance.id, { topic, id: publishedId(id, run.id, index) }));
  }
}

class Shelf implements RunShelf {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  waits(): Map<number, KnownWait> {
    return new Map(this.#run.open);
  }

  hasSettled({ index }: StepRecord): boolean {
    const step = this.#run.steps.get(index);
    return step !== undefined && step.status !== "waiting";
  }

  undelivered(): Map<number, BufferedEvent> {
    return new Map(this.#run.undelivered);
  }

  countBuffered(): number {
    let count = 0;
    for (const { system } of this.#run.undelivered.values()) if (!system) count += 1;
    return count;
  }

  *takenBy(stepKeys: readonly string[]): Generator<TakenEvent> {
    for (const event of this.#run.events.values()) {
      const { consumedBy } = event;
      if (consumedBy !== null && stepKeys.includes(consumedBy)) yield { ...event, consumedBy };
    }
  }

  idOfEvent(seq: number): string | undefined {
    return this.#run.events.get(seq)?.id;
  }
}
