import type { EncodedValue, StoredError } from "./value.ts";

export const liveStatuses = ["active", "waiting", "paused"] as const;
/** A run that has one of these has ended. */
export const terminalStatuses = ["complete", "errored", "terminated"] as const;

export type TerminalStatus = (typeof terminalStatuses)[number];
export type InstanceStatus = (typeof liveStatuses)[number] | TerminalStatus;

export const instanceStatuses: readonly InstanceStatus[] = [...liveStatuses, ...terminalStatuses];

export function isTerminal(status: InstanceStatus): status is TerminalStatus {
  return (terminalStatuses as readonly InstanceStatus[]).includes(status);
}

/** Words that other engines have for statuses; they are understood where people type them. */
export const otherStatusWords: Readonly<Record<string, InstanceStatus>> = {
  pending: "active",
  queued: "active",
  running: "active",
  enqueued: "active",
  suspended: "waiting",
  completed: "complete",
  success: "complete",
  failed: "errored",
  error: "errored",
  cancelled: "terminated",
  canceled: "terminated",
};

/** How users address an instance. Ids are unique within their workflow. */
export interface InstanceRef {
  readonly workflowName: string;
  readonly instanceId: string;
}

/** A store's own name for one run of one instance; opaque to everybody else, never reused. */
export type RunId = number | string;

export const terminationSources = [
  "user",
  "maxRunDuration",
  "maxSuspendDuration",
  "deadline",
  "restarted",
] as const;

export interface TerminationReason {
  readonly source: (typeof terminationSources)[number];
  readonly message: string | null;
  /** Who it was, where that is known: the actor that a hook of the HTTP API named, or the `actor` given to `terminate`. */
  readonly by?: string;
}

/** An instance with the facts of one of its runs (the current one unless another was asked for). */
export interface InstanceRecord extends InstanceRef {
  readonly runId: RunId;
  /** First run is 1; `restart` begins the next. */
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly params: EncodedValue;
  readonly output: EncodedValue | null;
  readonly error: StoredError | null;
  readonly terminationReason: TerminationReason | null;
  /** Errored because the engine gave up on it (retries or crash budget exhausted). */
  readonly deadLetter: boolean;
  /** What the caller's clock said when it was created; event.timestamp for ever after. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly completedAt: number | null;
  readonly pausedAt: number | null;
  readonly deadlineAt: number | null;
  readonly retentionMs: number | null;
  readonly retentionUntil: number | null;
  readonly parent: InstanceRef | null;
  /** A runner holds the lease right now. */
  readonly executing: boolean;
  /** When the run wants its next turn (or its lease ends); null when it wants none. */
  readonly dueAt: number | null;
  readonly crashCount: number;
  readonly token: number;
  readonly begun: readonly BegunBody[];
  /**
   * It wants a turn, but stands in none of the lists through which claims find runs: part of a write is missing. Only where
   * a store keeps such lists beside the runs.
   */
  readonly unlisted?: true;
}

/** The facts that an instance is created with; all of its runs have them, and they never change. */
export const inputFields = [
  "workflowName",
  "instanceId",
  "params",
  "createdAt",
  "deadlineAt",
  "retentionMs",
  "parent",
] as const satisfies readonly (keyof InstanceRecord)[];

export type InstanceInput = Pick<InstanceRecord, (typeof inputFields)[number]>;

/** What an instance has of those that nobody gave. */
export const inputNotGiven = {
  deadlineAt: null,
  retentionMs: null,
  parent: null,
} as const satisfies Partial<InstanceInput>;

/** These facts alone, of whatever has them. */
export function inputOf(source: InstanceInput): InstanceInput {
  const input: Partial<Record<keyof InstanceInput, unknown>> = {};
  for (const name of inputFields) input[name] = source[name];
  return input as unknown as InstanceInput;
}

/** A body known to have been released to run; what a crash leaves behind of it. */
export interface BegunBody {
  readonly key: string;
  readonly name: string;
  /** The number of this start, first is 1. */
  readonly start: number;
  readonly at: number;
}
