/** What callers may say with a call, in the process and from afar alike. */
import type { Duration } from "../authoring/duration.ts";
import type { LogLevel } from "../model/log-line.ts";
import type { StepSelector } from "../model/step.ts";
import type { CreationBody } from "./bodies.ts";

export interface PageOptions {
  readonly pageSize?: number | undefined;
  /** The cursor of the page before. */
  readonly cursor?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

/** Which instances a list shows. */
export interface InstanceFilter<Time> {
  /** One status or several; words of other engines (running, failed, ...) are understood. */
  readonly status?: string | readonly string[] | undefined;
  readonly deadLetter?: boolean | undefined;
  /** Created at this time or later. */
  readonly createdFrom?: Time | undefined;
  /** Created before this time. */
  readonly createdBefore?: Time | undefined;
  /**
   * Ids that begin with this, in exact case. Only so many instances are looked at for a page: it may be short, or even
   * empty, and have a next one all the same.
   */
  readonly idPrefix?: string | undefined;
}

export interface RunOptions {
  /** Another run than the current one. */
  readonly runNumber?: number | undefined;
}

export interface LogFilter {
  /** This level only. */
  readonly level?: LogLevel | undefined;
  readonly category?: string | undefined;
}

/** Steps and events of a run, page by page, and its log if asked for. */
export interface HistoryPageOptions extends RunOptions, Omit<PageOptions, "cursor"> {
  readonly stepsCursor?: string | undefined;
  readonly eventsCursor?: string | undefined;
  readonly includeLogs?: boolean | undefined;
  readonly logsCursor?: string | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logCategory?: string | undefined;
}

export interface ActivityOptions {
  /** How far back; default 60, at most 10,080 (a week). */
  readonly minutes?: number | undefined;
  /** Of one workflow; of all together when left out. */
  readonly workflowName?: string | undefined;
}

/** What an audit goes through. */
export interface AuditOptions {
  /** Instances of this workflow only. */
  readonly workflowName?: string | undefined;
  /** Instances to go through at most; default 10,000, over HTTP 1,000. */
  readonly limit?: number | undefined;
  /** The `after` of the report before. */
  readonly after?: string | undefined;
  /** Which part of them is looked at, drawn at random: 0.01 for one in a hundred. Default: all. */
  readonly sample?: number | undefined;
  /** Older runs of restarted instances too. */
  readonly history?: boolean | undefined;
  /** Also, as warnings, what is only a violation unless something explains it that leaves no trace: see docs/verify.md. */
  readonly doubts?: boolean | undefined;
}

/** What an instance begins with: as in a request (bodies.ts), but for what code says in types of its own. */
export interface Creation<Params, Time>
  extends Omit<CreationBody, "params" | "startAt" | "deadline" | "retention"> {
  readonly params?: Params;
  /** Not before this time. */
  readonly startAt?: Time;
  /** The instance is ended at this time if it has not ended by itself. */
  readonly deadline?: Time;
  /** How long it is kept after it ended; for ever unless said. */
  readonly retention?: Duration;
}

export interface NewInstance<Params, Time> extends Creation<Params, Time> {
  /** Unique within the workflow; generated when left out. */
  readonly id?: string;
  /** What to do when the id is taken: fail (default), or give the instance that has it and ignore the params. */
  readonly ifExists?: "error" | "return";
}

/** Params may be left out only where nothing is a fit value for them. */
export type CreateArgumentsOf<Params, Options, More extends unknown[] = []> =
  Record<never, never> extends Params
    ? [options?: Options, ...More]
    : [options: Options & { readonly params: Params }, ...More];

export interface RepeatOptions {
  /** A call that is repeated with the same key has no further effect; for callers who may lose an answer. */
  readonly idempotencyKey?: string | undefined;
}

export interface DeleteOptions<Time> {
  /** Also one that has not ended: it is ended and removed at once, and whatever runs it can record nothing more. */
  readonly force?: boolean | undefined;
  /**
   * Only the instance that was created at this time. One that was created later under the same id is left alone, and the
   * call fails with INSTANCE_NOT_FOUND.
   */
  readonly createdAt?: Time | undefined;
}

export interface FromStep {
  /** Keep what was recorded before this step, and run from it. */
  readonly from?: StepSelector | undefined;
}

export interface ForkOptions extends FromStep {
  /** Id of the new instance; generated when left out. */
  readonly newId?: string | undefined;
}

export interface RetryOptions {
  /** Until then it waits; at most 30 days. */
  readonly delay?: Duration | undefined;
}

export interface PublishOptions {
  /** Publishing again with the same key has no further effect; generated when left out. */
  readonly idempotencyKey?: string | undefined;
}

export interface ResultOptions {
  /** How long to wait; without it, as long as it takes. */
  readonly timeout?: Duration | undefined;
}
