import type { InstanceRecord } from "../model/instance.ts";

/** Something the engine promises never to store, found in a store. */
export interface Violation {
  /** The id of the promise: "INV-7". They are listed in docs/verify.md. */
  readonly invariant: string;
  /** What was found, and why it cannot be. */
  readonly message: string;
  readonly workflowName: string;
  readonly instanceId: string;
  readonly runNumber: number;
  /** The only thing that would explain it and that leaves no trace in the records. Without it nothing does. */
  readonly unless?: Explanation;
}

export type Explanation =
  /** Code was deployed that asks for other steps than the code that recorded these. */
  | "code-changed"
  /** Somebody skipped the sleep. */
  | "sleep-skipped"
  /** A failed `onConsume` hook, or the retry of a failed step, gave an event back. */
  | "event-given-back"
  /** A resume moved open waits by the length of the pause, or the retry of a failed step gave it a new time. */
  | "time-given-anew"
  /** A host's clock was set back in the middle of a body. */
  | "clock-set-back"
  /** Every runner that was to give the run up died in the attempt. */
  | "died-giving-up";

/** What a rule found; whose run it is, is added by the check. */
export type Found = Pick<Violation, "invariant" | "message" | "unless">;

export function violationsOf(record: InstanceRecord, found: Iterable<Found>): readonly Violation[] {
  const { workflowName, instanceId, runNumber } = record;
  return Array.from(found, (one) => ({ ...one, workflowName, instanceId, runNumber }));
}
