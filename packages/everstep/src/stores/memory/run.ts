import type { EventRecord } from "../../model/event.ts";
import type { BegunBody, InstanceInput } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord, WaitingStep } from "../../model/step.ts";
import type { Ending } from "../../store/apply/ending.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { ChangeOutcome } from "../../store/index.ts";
import type { Workflow } from "./database.ts";
import type { DueQueue } from "./due-queue.ts";

/** What all runs of an instance share. */
export interface Instance extends InstanceInput {
  /** That of its first run: they grow in the order of creation. */
  readonly id: number;
  readonly workflow: Workflow;
  /** By run number; the last one is current. */
  readonly runs: Run[];
  /** What became of changes made to it, by their ids. */
  readonly changes: Map<string, ChangeOutcome>;
}

/** The rows of one run. */
export interface Run {
  readonly id: number;
  readonly instance: Instance;
  /** Never changed, only replaced, by `MemoryDatabase.put`. */
  row: MemoryRow;
  ending: { readonly ending: Ending; readonly at: number } | null;

  readonly steps: Map<number, StepRecord>;
  readonly open: Map<number, WaitingStep>;
  readonly events: Map<number, EventRecord>;
  readonly undelivered: Map<number, EventRecord>;
  readonly logs: StoredLogLine[];

  /** Its place in the due queues; theirs to write. */
  queue: DueQueue | null;
  place: number;
}

export interface MemoryRow extends Readonly<RunRow> {
  readonly begun: readonly BegunBody[];
}

export function currentRun(instance: Instance): Run {
  return instance.runs[instance.runs.length - 1] as Run;
}
