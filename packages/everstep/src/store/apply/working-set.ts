/**
 * Everything a batch of requests works on, and what became of it. A store adds what it has loaded before the batch is
 * applied, and saves afterwards what is to go, is new or changed: `removed`, `runs` (see working-run.ts), `newPublications`, `newChanges`.
 */
import type { InstanceRef, InstanceStatus } from "../../model/instance.ts";
import type { ChangeOutcome, CreateRequest, PublishRequest } from "../store.ts";
import { type EventName, eventKey, isChangeOf, nameKey } from "./keys.ts";
import type { RunRow } from "./run-row.ts";
import { type RunShelf, WorkingRun } from "./working-run.ts";

export interface WorkingInstance extends InstanceRef {
  readonly id: number;
  readonly retentionMs: number | null;
  /** The request that creates it; null when it was there. */
  readonly request: CreateRequest | null;
  /** Its current run is another one now. */
  isMoved: boolean;
}

interface ExistingInstance {
  readonly status: InstanceStatus;
  readonly runNumber: number;
}

export interface Publication {
  readonly waiters: number;
  readonly runIds: readonly number[];
}

/** So few are looked through faster than they are put into an index. */
const scannedMax = 4;

export class WorkingSet {
  /** Those of the requests, the owner's that is abandoned, those that wait on a topic, and new ones. */
  readonly runs: Map<number, WorkingRun> = new Map();
  /** By name, once somebody asks for one. */
  #current: Map<string, WorkingRun> | null = null;
  #existing: Map<string, ExistingInstance> | null = null;
  #eventIds: Map<string, number> | null = null;
  #publications: Map<string, Publication> | null = null;
  #changes: Map<string, ChangeOutcome> | null = null;
  readonly newPublications: { readonly request: PublishRequest; readonly made: Publication }[] = [];
  readonly newChanges: {
    readonly instance: number;
    readonly id: string;
    readonly outcome: ChangeOutcome;
  }[] = [];

  /** Instances that are to go, before anything else is saved: their names may have been taken again. */
  readonly removed: number[] = [];

  /** What others should be told. */
  readonly news: { due: boolean; changed: boolean; ended: boolean } = {
    due: false,
    changed: false,
    ended: false,
  };

  readonly #takeId: () => number;

  constructor(takeId: () => number) {
    this.#takeId = takeId;
  }

  /** Instances that are there but that nobody wants to change; by keys, as all that follows (keys.ts). */
  get existing(): Map<string, ExistingInstance> {
    this.#existing ??= new Map();
    return this.#existing;
  }

  /** The run that got an event. */
  get eventIds(): Map<string, number> {
    this.#eventIds ??= new Map();
    return this.#eventIds;
  }

  hasEventId(instance: number, event: EventName): boolean {
    return this.#eventIds?.has(eventKey(instance, event)) ?? false;
  }

  get publications(): Map<string, Publication> {
    this.#publications ??= new Map();
    return this.#publications;
  }

  get changes(): Map<string, ChangeOutcome> {
    this.#changes ??= new Map();
    return this.#changes;
  }

  takeId(): number {
    return this.#takeId();
  }

  add(row: RunRow, instance: WorkingInstance, isNew: boolean, shelf: RunShelf | null = null): WorkingRun {
    const run = new WorkingRun(row, instance, isNew, shelf);
    this.runs.set(row.run, run);
    if (row.isCurrent) this.#current?.set(nameKey(instance), run);
    return run;
  }

  /** Nothing of the instance is left for the requests behind this one. */
  remove(instance: WorkingInstance): void {
    const isOther = (id: number): boolean => id !== instance.id;
    for (const [id, run] of this.runs) if (!isOther(run.instance.id)) this.runs.delete(id);
    this.#current?.delete(nameKey(instance));
    this.#existing?.delete(nameKey(instance));
    for (const key of this.#changes?.keys() ?? []) if (isChangeOf(key, instance)) this.#changes?.delete(key);
    const kept = this.newChanges.filter((change) => isOther(change.instance));
    this.newChanges.splice(0, this.newChanges.length, ...kept);
    if (instance.request === null) this.removed.push(instance.id);
  }

  /** The current run of an instance. */
  find(ref: InstanceRef): WorkingRun | undefined {
    if (this.#current === null && this.runs.size <= scannedMax) return this.#scan(ref);
    this.#current ??= this.#indexByName();
    return this.#current.get(nameKey(ref));
  }

  #scan({ workflowName, instanceId }: InstanceRef): WorkingRun | undefined {
    for (const run of this.runs.values()) {
      const { row, instance } = run;
      if (row.isCurrent && instance.instanceId === instanceId && instance.workflowName === workflowName)
        return run;
    }
    return undefined;
  }

  #indexByName(): Map<string, WorkingRun> {
    const current = new Map<string, WorkingRun>();
    for (const run of this.runs.values()) if (run.row.isCurrent) current.set(nameKey(run.instance), run);
    return current;
  }

  /** An instance that is there, whoever wants it. */
  whatExists(ref: InstanceRef): ExistingInstance | undefined {
    return this.find(ref)?.row ?? this.#existing?.get(nameKey(ref));
  }
}
