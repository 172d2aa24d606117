/** One run as one self-contained document: what `exportHistory` gives and `replayHistory` takes. */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";

export const historyFormat = "everstep-history";
/** Grows when older code could not read what newer code writes. */
export const historyVersion = 1;

/** What the document has of the run's record. */
export const runFields = [
  "workflowName",
  "instanceId",
  "runNumber",
  "status",
  "params",
  "output",
  "error",
  "terminationReason",
  "deadLetter",
  "createdAt",
  "startedAt",
  "updatedAt",
  "completedAt",
  "deadlineAt",
  "parent",
  "begun",
] as const satisfies readonly (keyof InstanceRecord)[];

export type RunFields = Pick<InstanceRecord, (typeof runFields)[number]>;

/**
 * Plain JSON. Values are in the form in which stores keep them (`json`, and `marks` for what JSON alone would lose), so
 * every kind of value survives `JSON.stringify` and `JSON.parse`. Times are epoch milliseconds.
 */
export interface HistoryDocument extends RunFields {
  readonly format: typeof historyFormat;
  readonly version: typeof historyVersion;
  /** Values were replaced before they left. */
  readonly redacted: boolean;
  readonly exportedAt: number;
  /** By index. */
  readonly steps: readonly StepRecord[];
  /** By sequence; without those of the engine itself. */
  readonly events: readonly EventRecord[];
  /** Left out when not asked for. */
  readonly logs?: readonly StoredLogLine[];
}
