/** Puts what a batch has made or changed into the maps. */
import { inputOf } from "../../model/instance.ts";
import { publicationKey } from "../../store/apply/keys.ts";
import type { WorkingRun } from "../../store/apply/working-run.ts";
import type { WorkingSet } from "../../store/apply/working-set.ts";
import type { CreateRequest } from "../../store/index.ts";
import type { MemoryDatabase } from "./database.ts";
import { detached } from "./detached.ts";
import type { Instance, MemoryRow, Run } from "./run.ts";

export function save(database: MemoryDatabase, set: WorkingSet): void {
  for (const id of set.removed) database.removeInstance(database.run(id).instance);
  for (const working of set.runs.values()) {
    if (working.isNew) saveRun(database, addRun(database, working), working);
    else if (working.isChanged) saveRun(database, database.run(working.row.run), working);
  }
  for (const { request, made } of set.newPublications)
    database.publications.set(publicationKey(request), { ...made, createdAt: request.createdAt });
  for (const { instance, id, outcome } of set.newChanges)
    database.run(instance).instance.changes.set(id, outcome);
}

function addRun(database: MemoryDatabase, { row, instance }: WorkingRun): Run {
  const { request } = instance;
  const owner =
    row.run === instance.id && request !== null
      ? addInstance(database, instance.id, request)
      : database.run(instance.id).instance;
  const run: Run = {
    id: row.run,
    instance: owner,
    row: row as MemoryRow,
    ending: null,
    steps: new Map(),
    open: new Map(),
    events: new Map(),
    undelivered: new Map(),
    logs: [],
    queue: null,
    place: 0,
  };
  owner.runs.push(run);
  database.runs.set(run.id, run);
  return run;
}

function addInstance(database: MemoryDatabase, id: number, request: CreateRequest): Instance {
  const workflow = database.workflow(request.workflowName);
  const instance: Instance = {
    ...detached(inputOf(request)),
    id,
    workflow,
    runs: [],
    changes: new Map(),
  };
  workflow.instances.set(request.instanceId, instance);
  return instance;
}

function saveRun(database: MemoryDatabase, run: Run, working: WorkingRun): void {
  for (const index of working.stepDrops) database.dropStep(run, index);
  for (const step of working.stepPuts.values()) database.putStep(run, step);
  for (const [index, wakeAt] of working.shifts) {
    const wait = run.open.get(index);
    if (wait !== undefined) database.putStep(run, { ...wait, wakeAt });
  }
  saveEvents(database, run, working);
  for (const { seq, line } of working.logs) run.logs.push(detached({ ...line, seq }));
  if (working.forgetsEnding) run.ending = null;
  if (working.ending !== null) run.ending = detached(working.ending);
  database.put(run, working.row);
}

function saveEvents(database: MemoryDatabase, run: Run, working: WorkingRun): void {
  for (const event of working.newEvents)
    database.putEvent(run, { ...event, deliveredAt: null, consumedBy: null });
  for (const seq of working.released) {
    const event = run.events.get(seq);
    if (event !== undefined) database.putEvent(run, { ...event, deliveredAt: null, consumedBy: null });
  }
  for (const [seq, { stepKey, at }] of working.consumed) {
    const event = run.undelivered.get(seq);
    if (event !== undefined) database.putEvent(run, { ...event, deliveredAt: at, consumedBy: stepKey });
  }
}
