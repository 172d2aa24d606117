/** Everything a batch of requests works on, and what became of it: the rows that were read, and those to be written. */
import type { InstanceRef, InstanceStatus } from "../../model/instance.ts";
import type { ChangeOutcome, CreateRequest, PublishRequest } from "../../store/store.ts";
import type { RunRow } from "./run-row.ts";
import { WorkingRun } from "./working-run.ts";

export interface WorkingInstance extends InstanceRef {
  readonly id: number;
  readonly retentionMs: number | null;
  /** The request that creates it; null when it was there. */
  readonly request: CreateRequest | null;
  /** Its current run is another one now. */
  isMoved: boolean;
}

export interface Publication {
  readonly waiters: number;
  readonly runIds: readonly number[];
}

export interface KnownEvent {
  readonly run: number;
  readonly instance: number;
}

export class WorkingSet {
  readonly runs: Map<number, WorkingRun> = new Map();
  readonly #current = new Map<string, WorkingRun>();
  /** Instances that are there but that nobody wants to change. */
  readonly existing: Map<string, { readonly status: InstanceStatus; readonly runNumber: number }> = new Map();

  /** By their keys (event-key.ts), as publications are. */
  readonly eventIds: Map<string, KnownEvent> = new Map();
  readonly publications: Map<string, Publication> = new Map();
  readonly newPublications: { readonly request: PublishRequest; readonly made: Publication }[] = [];
  readonly changes: Map<string, ChangeOutcome> = new Map();
  readonly newChanges: {
    readonly instance: number;
    readonly id: string;
    readonly outcome: ChangeOutcome;
  }[] = [];

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

  takeId(): number {
    return this.#takeId();
  }

  add(row: RunRow, instance: WorkingInstance, isNew: boolean): WorkingRun {
    const run = new WorkingRun(row, instance, isNew);
    this.runs.set(row.run, run);
    if (row.isCurrent) this.#current.set(nameKey(instance), run);
    return run;
  }

  /** The current run of an instance. */
  find(ref: InstanceRef): WorkingRun | undefined {
    return this.#current.get(nameKey(ref));
  }
}

/** One text for a workflow and an instance id; different for different ones. */
export function nameKey({ workflowName, instanceId }: InstanceRef): string {
  return `${workflowName.length} ${workflowName}${instanceId}`;
}

export function changeKey(ref: InstanceRef, id: string): string {
  return `${id.length} ${id}${nameKey(ref)}`;
}
