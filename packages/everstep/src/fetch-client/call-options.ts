/** What callers may say with each call. */
import type { Duration } from "../authoring/duration.ts";
import type { CreateBody, RestartOrCreateBody, WireStepSelector } from "../http/wire.ts";
import type { EverstepError } from "../model/error.ts";
import type { LogLevel } from "../model/log-line.ts";

export interface CallOptions {
  /** Ends the call, and the request under way. */
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends CallOptions {
  readonly pageSize?: number | undefined;
  /** The cursor of the page before. */
  readonly cursor?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

export interface ListAllOptions extends PageOptions {
  /** One status or several; words of other engines (running, failed, ...) are understood. */
  readonly status?: string | readonly string[] | undefined;
  readonly deadLetter?: boolean | undefined;
  /** Created at this time or later: a Date, ISO text or epoch milliseconds. */
  readonly createdFrom?: Date | string | number | undefined;
  /** Created before this time. */
  readonly createdBefore?: Date | string | number | undefined;
  /** Ids that begin with this, in exact case. Pages may then be short, or empty, and still have a next one. */
  readonly idPrefix?: string | undefined;
  /** Default true. false: with params and output; pages then end early once they have 4 MiB, and go on behind their cursor. */
  readonly brief?: boolean | undefined;
}

export interface ListOptions extends ListAllOptions {
  /** With everything about each instance, not just its status. */
  readonly meta?: boolean | undefined;
}

export interface ActivityOptions extends CallOptions {
  /** How far back; default 60, at most 10,080 (a week). */
  readonly minutes?: number | undefined;
  readonly workflowName?: string | undefined;
}

export interface AccessOptions extends CallOptions {
  /** With instances of this workflow. */
  readonly workflowName?: string | undefined;
}

export interface DeadLettersOptions extends Omit<PageOptions, "order">, Pick<ListAllOptions, "brief"> {
  readonly workflowName?: string | undefined;
}

export interface VerifyOptions extends CallOptions {
  /** Instances of this workflow only. */
  readonly workflowName?: string | undefined;
  /** Instances to go through at most. */
  readonly limit?: number | undefined;
  /** The `after` of the report before. */
  readonly after?: string | undefined;
  /** Which part of them is looked at: 0.01 for one in a hundred. */
  readonly sample?: number | undefined;
  /** Older runs of restarted instances too. */
  readonly history?: boolean | undefined;
  readonly doubts?: boolean | undefined;
}

export interface PublishOptions extends CallOptions {
  /** Publishing the same id again has no further effect; generated when left out. */
  readonly id?: string | undefined;
}

interface Creation<Params> extends Pick<CreateBody, "ttl"> {
  readonly params?: Params;
  /** Not before this time. */
  readonly startAt?: Date | string | number;
  /** The instance is ended at this time if it has not ended by itself. */
  readonly deadline?: Date | string | number;
}

export interface CreateOptions<Params = unknown> extends Creation<Params>, CallOptions {
  /** Unique within the workflow; generated when left out. */
  readonly id?: string;
  /** What to do when the id is taken: fail (default), or give the instance that has it and ignore the params. */
  readonly ifExists?: "error" | "return";
}

/** Params may be left out only where nothing is a fit value for them. */
export type CreateArguments<Params> =
  Record<never, never> extends Params
    ? [options?: CreateOptions<Params>]
    : [options: CreateOptions<Params> & { readonly params: Params }];

export interface BatchEntry<Params = unknown> extends Creation<Params> {
  /** Generated when left out. */
  readonly id?: string;
}

export interface RestartOrCreateOptions<Params = unknown> extends Creation<Params>, ManageOptions {
  /** Restarts only what fits. */
  readonly when?: RestartOrCreateBody["when"];
}

export interface ManageOptions extends CallOptions {
  /** The same key again has no further effect. Generated for each call when left out. */
  readonly idempotencyKey?: string | undefined;
}

export interface TerminateOptions extends ManageOptions {
  readonly reason?: string | undefined;
}

export interface RestartOptions extends ManageOptions {
  /** Keep what was recorded before this step, and run from it. */
  readonly from?: WireStepSelector | undefined;
}

export interface ForkOptions extends RestartOptions {
  /** Id of the new instance; generated when left out. */
  readonly newId?: string | undefined;
}

export interface RetryFailedStepOptions extends ManageOptions {
  readonly delay?: string | number | undefined;
}

export interface OutgoingEvent extends CallOptions {
  readonly type: string;
  readonly payload?: unknown;
  /** Sending the same id again has no further effect; generated when left out. */
  readonly id?: string | undefined;
}

export interface StepOptions extends CallOptions {
  readonly runNumber?: number | undefined;
}

export interface HistoryOptions extends CallOptions {
  readonly runNumber?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly stepsCursor?: string | undefined;
  readonly eventsCursor?: string | undefined;
  readonly includeLogs?: boolean | undefined;
  readonly logsCursor?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logCategory?: string | undefined;
}

export interface LogsOptions extends PageOptions {
  readonly runNumber?: number | undefined;
  /** This level only. */
  readonly level?: LogLevel | undefined;
  readonly category?: string | undefined;
}

export interface ExportOptions extends CallOptions {
  readonly runNumber?: number | undefined;
}

export interface WatchOptions extends CallOptions {
  /** Told of each connection that dropped, before the next is made. */
  readonly onReconnect?: ((problem: EverstepError) => void) | undefined;
}

/** What is sent again and again is always brief. */
export interface WatchListOptions extends Omit<ListAllOptions, "brief">, WatchOptions {}

export interface FollowLogsOptions extends WatchOptions {
  readonly level?: LogLevel | undefined;
  readonly category?: string | undefined;
}

export interface ResultOptions extends WatchOptions {
  /** How long to wait; without it, as long as it takes. */
  readonly timeout?: Duration | undefined;
}
