import { EverstepError } from "./error.ts";
import type { BegunBody, InstanceRef, InstanceStatus, RunId } from "./instance.ts";
import type { Runtime } from "./runtime.ts";
import type { EncodedValue } from "./value.ts";

/**
 * The right to take a turn of one run until it ends. The token fences every write. No other lease of the run ever had
 * it: stored data can go back in time (an asynchronous failover, a restored backup), and a counter would go back with it
 * and give one number to two holders.
 */
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

/** A lease that is given back. */
export interface ReturnedLease extends Lease {
  /** When the run may be tried again; at once unless said. */
  readonly retryAt?: number;
}

/**
 * A token for new leases: 48 random bits, so that no two are alike whatever the store has forgotten. Every digit counts:
 * some versions of UUIDs begin with the time, and others end with the address of the machine.
 */
export function newToken(runtime: Pick<Runtime, "uuid">): number {
  const uuid = runtime.uuid();
  if (uuidPattern.test(uuid)) return mixed(uuid.replaceAll("-", "")) + 1;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `runtime.uuid gave ${JSON.stringify(uuid)}, which is no UUID: leases need random ones.`,
  );
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** 48 bits of 32 hexadecimal digits, each of which depends on all of them. */
function mixed(digits: string): number {
  let [high, low] = [0, 0];
  for (let at = 0; at < digits.length; at += 8) {
    const word = Number.parseInt(digits.slice(at, at + 8), 16);
    high = stirred(Math.imul(high ^ word, 0x9e3779b1));
    low = stirred(Math.imul(low ^ word, 0x5f356495));
  }
  return (high >>> 16) * 2 ** 32 + (low >>> 0);
}

function stirred(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  return once ^ (once >>> 15);
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
  /** Leases in a row that ran out without progress, the one that this claim replaced included; see `crashesAfter`. */
  readonly crashCount: number;
  /** How the run was left by whoever held it last. */
  readonly left: LeftRun;
  /** The holder has confirmed the lease: the first commit is made. */
  readonly confirmed?: true;
}

export interface LeftRun {
  /** The run's token before this claim; 0 when there was none. */
  readonly token: number;
  /** The number of the last commit under that token. */
  readonly commit: number;
  /** The lease under that token ran out. */
  readonly ranOut: boolean;
}

/** A run that nobody holds waits until it is tried again after a crash: nothing but a person makes it due sooner. */
export function waitsOutCrash(run: {
  readonly status: InstanceStatus;
  readonly crashCount: number;
}): boolean {
  return run.status === "active" && run.crashCount > 0;
}

/**
 * Whether a lease that ended then counts as a crash. Not while whoever takes the run over could not reach the store: the
 * holder may be well and have had nobody to renew its lease with.
 */
export function provesCrash(
  endedAt: number,
  { excusedFrom }: { readonly excusedFrom?: number | undefined },
): boolean {
  return excusedFrom === undefined || endedAt < excusedFrom;
}

/**
 * The count of crashes once a lease has run out. One whose holder was never heard of proves nothing: the answer to the
 * claim may have been lost, and nobody ever took the turn. It counts once, which makes the next holder confirm its lease
 * with a commit before any code of the author runs; from then on a lease that runs out is a crash.
 */
export function crashesAfter(before: number, commits: number): number {
  return commits > 0 ? before + 1 : Math.max(before, 1);
}
