/** What callers may say with each call: the same as in the process, and how the request is to go. */

import type { OutgoingEvent as SomeEvent } from "../authoring/workflow-step.ts";
import type { EverstepError } from "../model/error.ts";
import type { NamesOf } from "../model/known-names.ts";
import type { WireRestartCondition } from "../wire/index.ts";
import { repeatNames, runNames, deleteNames as wireDeleteNames } from "../wire/option-names.ts";
import type * as wire from "../wire/options.ts";

/** A Date, ISO text or epoch milliseconds. */
type Time = Date | string | number;

export interface CallOptions {
  /** Ends the call, and the request under way. */
  readonly signal?: AbortSignal | undefined;
}

export interface PageOptions extends wire.PageOptions, CallOptions {}

export interface ListAllOptions extends wire.InstanceFilter<Time>, PageOptions {
  /** Default true. false: with params and output; pages then end early once they have 4 MiB, and go on behind their cursor. */
  readonly brief?: boolean | undefined;
}

export interface ListOptions extends ListAllOptions {
  /** With everything about each instance, not just its status. */
  readonly meta?: boolean | undefined;
}

export interface ActivityOptions extends wire.ActivityOptions, CallOptions {}

export interface AccessOptions extends CallOptions {
  /** With instances of this workflow. */
  readonly workflowName?: string | undefined;
}

export interface DeadLettersOptions extends Omit<PageOptions, "order">, Pick<ListAllOptions, "brief"> {
  readonly workflowName?: string | undefined;
}

export interface VerifyOptions extends wire.AuditOptions, CallOptions {}

export interface PublishOptions extends wire.PublishOptions, CallOptions {}

export interface CreateOptions<Params = unknown> extends wire.NewInstance<Params, Time>, CallOptions {}

export type CreateArguments<Params> = wire.CreateArgumentsOf<Params, CreateOptions<Params>>;

export interface BatchEntry<Params = unknown> extends Omit<wire.NewInstance<Params, Time>, "ifExists"> {}

export interface RestartOrCreateOptions<Params = unknown> extends wire.Creation<Params, Time>, ManageOptions {
  /** Restarts only what fits. */
  readonly when?: WireRestartCondition;
}

/** Without a key of the caller's own each call has one, which its tries share. */
export interface ManageOptions extends wire.RepeatOptions, CallOptions {}

export const manageNames: NamesOf<ManageOptions> = { ...repeatNames, signal: true };

export interface TerminateOptions extends ManageOptions {
  readonly reason?: string | undefined;
}

/** It has no key: nothing of the instance is left to remember one. `createdAt` makes a repeat harmless. */
export interface DeleteOptions extends wire.DeleteOptions<Time>, CallOptions {}

export const deleteNames: NamesOf<DeleteOptions> = { ...wireDeleteNames, signal: true };

export interface RestartOptions extends wire.FromStep, ManageOptions {}

export interface ForkOptions extends wire.ForkOptions, ManageOptions {}

export interface RetryFailedStepOptions extends wire.RetryOptions, ManageOptions {}

export interface OutgoingEvent extends SomeEvent, CallOptions {}

export interface StepOptions extends wire.RunOptions, CallOptions {}

export interface ExportOptions extends wire.RunOptions, CallOptions {}

export interface HistoryOptions extends wire.HistoryPageOptions, CallOptions {}

export interface LogsOptions extends wire.RunOptions, wire.LogFilter, PageOptions {}

export interface WatchOptions extends CallOptions {
  /** Told of each connection that dropped, before the next is made. */
  readonly onReconnect?: ((problem: EverstepError) => void) | undefined;
}

/** What is sent again and again is always brief. */
export interface WatchListOptions extends Omit<ListAllOptions, "brief">, WatchOptions {}

export interface FollowLogsOptions extends wire.LogFilter, WatchOptions {}

export interface ResultOptions extends wire.ResultOptions, WatchOptions {}

export const publishNames: NamesOf<PublishOptions> = { idempotencyKey: true, signal: true };
export const exportNames: NamesOf<ExportOptions> = { ...runNames, signal: true };
export const watchNames: NamesOf<WatchOptions> = { signal: true, onReconnect: true };
export const resultNames: NamesOf<ResultOptions> = { ...watchNames, timeout: true };
