/** One run as one self-contained document: what `exportHistory` gives and `replayHistory` takes. */
import type { EventRecord } from "../../model/event.ts";
import type { BegunBody, InstanceRef, InstanceStatus, TerminationReason } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";

export const historyFormat = "everstep-history";
/** Grows when older code could not read what newer code writes. */
export const historyVersion = 1;

/**
 * Plain JSON. Values are in the form in which stores keep them (`json`, and `marks` for what JSON alone would lose), so
 * every kind of value survives `JSON.stringify` and `JSON.parse`. Times are epoch milliseconds.
 */
export interface HistoryDocument extends InstanceRef {
  readonly format: typeof historyFormat;
  readonly version: typeof historyVersion;
  /** Values were replaced before they left. */
  readonly redacted: boolean;
  readonly exportedAt: number;
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly params: EncodedValue;
  readonly output: EncodedValue | null;
  readonly error: StoredError | null;
  readonly terminationReason: TerminationReason | null;
  readonly deadLetter: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly completedAt: number | null;
  readonly deadlineAt: number | null;
  readonly parent: InstanceRef | null;
  readonly begun: readonly BegunBody[];
  /** By index. */
  readonly steps: readonly StepRecord[];
  /** By sequence; without those of the engine itself. */
  readonly events: readonly EventRecord[];
  /** Left out when not asked for. */
  readonly logs?: readonly StoredLogLine[];
}
