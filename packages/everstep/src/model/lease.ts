import type { BegunBody, InstanceRef, RunId } from "./instance.ts";
import type { Runtime } from "./runtime.ts";
import type { EncodedValue } from "./value.ts";

/** The right to take a turn of one run until it ends. The token grows at every claim and fences every write. */
export interface Lease {
  readonly runId: RunId;
  readonly token: number;
  readonly owner: string;
  readonly expiresAt: number;
}

/** The end of a lease asked for now: by nobody's clock sooner than its holder believes. */
export function leaseEnd(runtime: Runtime, leaseMs: number): number {
  return runtime.now() + (runtime.behindMs?.() ?? 0) + leaseMs;
}

/** A run in a runner's hands. */
export interface Claim extends InstanceRef {
  readonly lease: Lease;
  readonly runNumber: number;
  readonly params: EncodedValue;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly deadlineAt: number | null;
  /** Since when the run had been waiting; null when it was not. */
  readonly waitingSince: number | null;
  /** Nothing was ever recorded for this run: there is no history to read. */
  readonly fresh: boolean;
  /** Sequence of the newest event accepted for the run; 0 when there is none. */
  readonly eventSeq: number;
  /** Bodies in flight when the run was last heard of. */
  readonly begun: readonly BegunBody[];
  /** Claims in a row that replaced a lease that had run out, this one included. */
  readonly crashCount: number;
}
