import type { BegunBody, InstanceRecord, InstanceStatus } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";

/** One run as it was recorded, with all that its code can see of it. */
export interface RecordedRun {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly params: EncodedValue;
  readonly createdAt: number;
  readonly steps: readonly StepRecord[];
  /** Bodies that had begun and of which nothing is recorded yet. */
  readonly begun: readonly BegunBody[];
  readonly output: EncodedValue | null;
  readonly error: StoredError | null;
}

export function recordedRun(record: InstanceRecord, steps: readonly StepRecord[]): RecordedRun {
  const { workflowName, instanceId, runNumber, status, params, createdAt, begun, output, error } = record;
  return { workflowName, instanceId, runNumber, status, params, createdAt, steps, begun, output, error };
}
