import type { EncodedValue } from "./value.ts";

/** Data sent to one run. Either typed (`sendEvent`) or from a topic, addressed to the wait that was there for it. */
export interface EventRecord {
  /** Order of acceptance within the run. */
  readonly seq: number;
  readonly id: string;
  readonly type: string | null;
  readonly topic: string | null;
  /** Only the step with this key may take it. */
  readonly forStep: string | null;
  /** Sent by the engine itself (skip a sleep); not shown in histories. */
  readonly system: boolean;
  readonly payload: EncodedValue;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  readonly consumedBy: string | null;
}
