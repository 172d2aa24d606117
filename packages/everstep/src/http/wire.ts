/** What goes over the wire: the JSON of every answer and of every request's body. Times are ISO 8601 text. */
import type { ErrorCode } from "../model/error.ts";
import type { InstanceStatus, TerminationReason } from "../model/instance.ts";
import type { LogLevel } from "../model/log-line.ts";
import type { StepStatus, StepType } from "../model/step.ts";

export interface WireProblem {
  readonly error: {
    readonly code: ErrorCode;
    /** What happened, why, and what to do. */
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
    /** Where the code is explained. */
    readonly docs: string;
  };
}

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Facts for programs, of errors that have a code. */
  readonly details?: unknown;
  readonly stack?: string;
}

/** `output` is there when complete, `error` when errored. */
export interface WireStatus {
  readonly status: InstanceStatus;
  readonly output?: unknown;
  readonly error?: WireError;
}

export interface WireRef {
  readonly workflowName: string;
  readonly instanceId: string;
}

export interface WireInstance {
  readonly id: string;
  readonly details: WireStatus;
}

export interface WireMeta {
  readonly workflowName: string;
  readonly runNumber: number;
  /** Left out of lists that are asked for in brief. */
  readonly params?: unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly dueAt: string | null;
  readonly deadlineAt: string | null;
  readonly retentionUntil: string | null;
  readonly parent: WireRef | null;
  readonly terminationReason: TerminationReason | null;
  readonly executing: boolean;
  readonly queued: boolean;
  readonly deadLetter: boolean;
  readonly currentStep?: WireStep;
  /** Of one instance alone: every body at work, where there are any. */
  readonly running?: readonly WireRunningBody[];
}

export interface WireInstanceWithMeta extends WireInstance {
  readonly meta: WireMeta;
}

export interface WireInstances {
  readonly instances: readonly (WireInstance & { readonly meta?: WireMeta })[];
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

/** Lists over all workflows always have `meta`, which says whose instance it is. */
export interface WireInstancesWithMeta {
  readonly instances: readonly WireInstanceWithMeta[];
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

export interface WireStep {
  readonly stepKey: string;
  readonly name: string;
  readonly index: number;
  readonly type: StepType;
  readonly status: StepStatus | "running";
  readonly attempts: number;
  readonly starts: number;
  readonly maxAttempts: number | null;
  readonly timeoutMs: number | null;
  readonly nextRetryAt: string | null;
  readonly wakeAt: string | null;
  readonly waitEventType: string | null;
  readonly topic: string | null;
  readonly parentKey: string | null;
  readonly depth: number;
  readonly result?: unknown;
  /** It has a result that is not shown. */
  readonly sensitive?: boolean;
  readonly error?: WireError;
  /** Every failed attempt, oldest first. */
  readonly errors: readonly WireAttemptError[];
  readonly createdAt: string;
  readonly settledAt: string | null;
}

export interface WireAttemptError extends WireError {
  readonly attempt: number;
  readonly at: string;
  /** When the next attempt was due; null after the last one. */
  readonly retryAt: string | null;
}

/** A body at work, whether or not its step has a record already. */
export interface WireRunningBody {
  readonly stepKey: string;
  readonly name: string;
  /** The number of this start, first is 1. */
  readonly start: number;
  readonly startedAt: string;
}

export interface WireEvent {
  readonly id: string;
  readonly type: string | null;
  readonly topic: string | null;
  readonly payload: unknown;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  readonly consumedByStepKey: string | null;
}

export interface WireLogLine {
  readonly id: string;
  readonly runNumber: number;
  readonly stepKey: string | null;
  readonly attempt: number | null;
  readonly level: LogLevel;
  readonly category: string;
  readonly message: string;
  readonly data: unknown;
  readonly isReplay: boolean;
  readonly createdAt: string;
}

export interface WireHistory {
  readonly runNumber: number;
  readonly steps: readonly WireStep[];
  readonly stepsCursor?: string;
  readonly stepsHasNextPage: boolean;
  readonly events: readonly WireEvent[];
  readonly eventsCursor?: string;
  readonly eventsHasNextPage: boolean;
  /** With `includeLogs=true`. */
  readonly logs?: readonly WireLogLine[];
  readonly logsCursor?: string;
  readonly logsHasNextPage?: boolean;
}

export interface WireLogs {
  readonly logs: readonly WireLogLine[];
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

export interface WireRuns {
  readonly runs: readonly WireInstanceWithMeta[];
}

export interface WireWorkflows {
  readonly workflows: readonly { readonly name: string }[];
}

export interface WireWorkflow {
  readonly name: string;
  /** The name code uses for it. */
  readonly key: string;
  readonly checksParams: boolean;
  readonly checksOutput: boolean;
  readonly concurrency: number | null;
  /** JSON Schema of the params, where the workflow's own schema can tell it. */
  readonly paramsSchema?: unknown;
  readonly limits: Readonly<Record<string, number | null>>;
  readonly counts: WireCounts;
}

export type WireCounts = Readonly<Record<InstanceStatus, number>>;

/** One answer to "why is this instance not moving?". */
export interface WireWhy {
  /** Stable, for programs: `waiting-for-event`, `no-runner`. */
  readonly reason: string;
  /** One sentence. */
  readonly answer: string;
  /** What to do about it; null when nothing needs to be done. */
  readonly advice: string | null;
  readonly status: InstanceStatus;
  readonly stepKey?: string;
  /** What it waits for: an event or a topic, if one is named, else a time. Of several waits the one that ends first. */
  readonly waitsFor?: { readonly stepName: string; readonly eventType?: string; readonly topic?: string };
  /** When it goes on by itself. */
  readonly until?: string;
  /** An errored one: `retry-failed-step` would be accepted. Then `stepKey` is the step it is for, if it is for one. */
  readonly mayRetry?: boolean;
  /** What a person did to this run last, if it is known who. */
  readonly lastAction?: {
    /** As the API calls it: `pause`, `retryFailedStep`. */
    readonly action: string;
    readonly actor: string;
    /** One sentence: `Paused by ann.` */
    readonly text: string;
    readonly at: string;
  };
  /** What the engine itself has logged of this run, newest first, at most 3: an event of it that reached nobody. */
  readonly warnings?: readonly string[];
}

export interface WireWaiters {
  readonly waiters: readonly {
    readonly workflowName: string;
    readonly instanceId: string;
    readonly runNumber: number;
    readonly stepKey: string;
    readonly topic: string;
    readonly deadlineAt: string;
  }[];
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

/** Topics that somebody waits on now. */
export interface WireTopics {
  readonly topics: readonly { readonly topic: string; readonly waiters: number }[];
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

export interface WireRunner {
  /** The owner of its leases. */
  readonly id: string;
  readonly host: string | null;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly seenAt: string;
  readonly stoppedAt: string | null;
  /** `silent`: it has neither stopped nor been heard of for long. */
  readonly state: "running" | "silent" | "stopped";
  /** It is the process that answers. */
  readonly isHere: boolean;
  readonly concurrency: number;
  /** Turns in progress. */
  readonly turns: number;
  readonly workflows: readonly string[];
}

export interface WireRunners {
  readonly runners: readonly WireRunner[];
}

/** What was done in one stretch of time, `bucketMs` long. */
export interface WireActivityBucket {
  readonly at: string;
  readonly complete: number;
  readonly errored: number;
  readonly terminated: number;
  readonly steps: number;
  readonly failedAttempts: number;
}

export interface WireActivity {
  readonly from: string;
  readonly to: string;
  readonly bucketMs: number;
  readonly buckets: readonly WireActivityBucket[];
}

export interface WireOldest extends WireRef {
  readonly createdAt: string;
}

/** How it all is, at a glance. What is counted one by one is counted up to 1,000, and `isMore` says that there may be more. */
export interface WireOverview {
  /** Of the library that answers. */
  readonly version: string;
  /** When this was put together. */
  readonly now: string;
  readonly counts: WireCounts;
  readonly deadLetters: { readonly count: number; readonly isMore: boolean };
  /** Due, and taken by no runner. */
  readonly overdue: {
    readonly count: number;
    readonly isMore: boolean;
    readonly oldestDueAt: string | null;
  };
  /** Attempts that are made again within the next hour. */
  readonly retries: { readonly count: number; readonly isMore: boolean; readonly nextAt: string | null };
  readonly oldestWaiting: WireOldest | null;
  readonly oldestActive: WireOldest | null;
  readonly store: {
    readonly name: string;
    readonly guarantees: readonly { readonly name: string; readonly has: boolean; readonly why?: string }[];
    readonly warnings: readonly { readonly code: string; readonly message: string }[];
  };
  /** Of the process that answers. */
  readonly runner: { readonly running: boolean };
  /** POST /_dev/kill is offered here. */
  readonly mayKill: boolean;
}

/** What whoever asks may do beside reading. */
export interface WireAccess {
  readonly instanceCreation: boolean;
  readonly management: boolean;
  readonly sendEvent: boolean;
  /** What time it is for the engine, to compare times of instances with. */
  readonly now: string;
}

export interface WireOk {
  readonly ok: true;
}

export interface WireRestartOrCreate extends WireInstance {
  readonly outcome: "created" | "restarted" | "unchanged";
}

/** A step as people name it: its name, or more of it where one name is used several times. */
export type WireStepSelector =
  | string
  | { readonly name: string; readonly count?: number; readonly type?: StepType };

export interface CreateBody {
  readonly id?: string;
  readonly params?: unknown;
  readonly ifExists?: "error" | "return";
  readonly startAt?: string | number;
  readonly deadline?: string | number;
  readonly ttl?: string | number;
}

export interface CreateBatchBody {
  readonly instances: readonly (CreateBody & { readonly id: string })[];
}

export interface RestartBody {
  readonly from?: WireStepSelector;
}

export interface ForkBody {
  readonly from?: WireStepSelector;
  readonly newId?: string;
}

export interface RestartOrCreateBody extends Omit<CreateBody, "id" | "ifExists"> {
  readonly when?: { readonly statuses?: readonly InstanceStatus[]; readonly runNumber?: number };
}

export interface SendEventBody {
  readonly type: string;
  readonly payload?: unknown;
  /** Sending the same id again has no further effect. */
  readonly id?: string;
}

export interface PublishBody {
  readonly payload?: unknown;
  readonly id?: string;
}

export interface TickBody {
  readonly maxInstances?: number;
  readonly maxSteps?: number;
}
