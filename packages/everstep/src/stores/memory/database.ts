import type { EventRecord } from "../../model/event.ts";
import type { InstanceRef } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import { eventKey } from "../../store/apply/keys.ts";
import { isLeased, lanes } from "../../store/apply/lane.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { Publication } from "../../store/apply/working-set.ts";
import { Beats } from "./beats.ts";
import { detached } from "./detached.ts";
import { DueQueue } from "./due-queue.ts";
import { Owners } from "./owners.ts";
import type { Instance, MemoryRow, Run } from "./run.ts";

/** The data that one or several memory stores work on; each store on it stands for a process of its own. */
export function createMemoryDatabase(options: MemoryDatabaseOptions = {}): MemoryDatabase {
  return new MemoryDatabase(options.ownership === true ? new Owners() : null);
}

export interface MemoryDatabaseOptions {
  /** Lets tests play the death of an owner: `database.owners?.kill(owner)`. */
  readonly ownership?: boolean;
}

export interface Workflow {
  readonly instances: Map<string, Instance>;
  /** Work under way and new starts, apart: a queue of starts of any length never delays a resume. */
  readonly resumes: DueQueue;
  readonly starts: DueQueue;
  /** Runs with a lease, in force or run out. */
  readonly leased: Set<Run>;
}

/** A step that is or was waiting on a topic, by the place where its record is found. */
export interface Waiter {
  readonly run: Run;
  readonly index: number;
}

/** The rows and their indexes. Maps compare names bytewise, so any text may be an id (INV-45). */
export class MemoryDatabase {
  schemaVersion = 0;
  lastRunId = 0;
  readonly workflows: Map<string, Workflow> = new Map();
  readonly runs: Map<number, Run> = new Map();
  /** Which run got an event, by the event's key. */
  readonly eventIds: Map<string, number> = new Map();
  readonly topics: Map<string, Map<string, Waiter>> = new Map();
  /** By their keys. */
  readonly publications: Map<string, Publication & { readonly createdAt: number }> = new Map();
  readonly authorRows: Map<string, unknown> = new Map();
  readonly beats: Beats = new Beats();
  readonly owners: Owners | null;

  constructor(owners: Owners | null) {
    this.owners = owners;
  }

  workflow(name: string): Workflow {
    let workflow = this.workflows.get(name);
    if (workflow === undefined) {
      workflow = { instances: new Map(), resumes: new DueQueue(), starts: new DueQueue(), leased: new Set() };
      this.workflows.set(name, workflow);
    }
    return workflow;
  }

  find(ref: InstanceRef): Instance | undefined {
    return this.workflows.get(ref.workflowName)?.instances.get(ref.instanceId);
  }

  /** One that is known to be there. */
  run(id: number): Run {
    return this.runs.get(id) as Run;
  }

  takeRunId(): number {
    this.lastRunId += 1;
    return this.lastRunId;
  }

  /** Replaces the run's hot row, which is the database's from then on, and brings the indexes over it in line (INV-37). */
  put(run: Run, row: RunRow): void {
    if (row.begun !== run.row.begun) row.begun = detached(row.begun);
    run.row = row as MemoryRow;
    this.reschedule(run);
  }

  reschedule(run: Run): void {
    const { resumes, starts, leased } = run.instance.workflow;
    const { lane } = run.row;
    if (isLeased(lane)) leased.add(run);
    else leased.delete(run);
    if (lane === lanes.starting) starts.put(run);
    else if (lane === lanes.resuming || lane === lanes.held) resumes.put(run);
    else run.queue?.remove(run);
  }

  putStep(run: Run, given: StepRecord): void {
    this.dropStep(run, given.index);
    const step = detached(given);
    run.steps.set(step.index, step);
    if (step.status !== "waiting") return;
    run.open.set(step.index, step);
    if (step.topic === null) return;
    const waiters = this.topics.get(step.topic) ?? new Map<string, Waiter>();
    waiters.set(waiterName(run, step.index), { run, index: step.index });
    this.topics.set(step.topic, waiters);
  }

  dropStep(run: Run, index: number): void {
    const topic = run.open.get(index)?.topic ?? null;
    run.steps.delete(index);
    run.open.delete(index);
    if (topic === null) return;
    const waiters = this.topics.get(topic);
    waiters?.delete(waiterName(run, index));
    if (waiters?.size === 0) this.topics.delete(topic);
  }

  putEvent(run: Run, given: EventRecord): void {
    const event = detached(given);
    run.events.set(event.seq, event);
    if (event.deliveredAt === null) run.undelivered.set(event.seq, event);
    else run.undelivered.delete(event.seq);
    this.eventIds.set(eventKey(run.instance.id, event), run.id);
  }

  /** All traces of an instance and its runs. */
  removeInstance(instance: Instance): void {
    for (const run of instance.runs) {
      for (const index of [...run.steps.keys()]) this.dropStep(run, index);
      for (const event of run.events.values()) this.eventIds.delete(eventKey(instance.id, event));
      run.queue?.remove(run);
      instance.workflow.leased.delete(run);
      this.runs.delete(run.id);
    }
    instance.workflow.instances.delete(instance.instanceId);
  }
}

function waiterName(run: Run, index: number): string {
  return `${run.id}:${index}`;
}
