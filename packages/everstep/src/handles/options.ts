/** What callers may say with a call, in the process and from a client alike. */
import type { WireRestartCondition } from "../wire/index.ts";
import type {
  CreateArgumentsOf,
  FromStep,
  InstanceFilter,
  LogFilter,
  NewInstance,
  PageOptions,
  RepeatOptions,
  RunOptions,
} from "../wire/options.ts";

export interface WithinOptions {
  /** A transaction of your own, open on the store's database; what it is depends on the store. */
  readonly tx?: unknown;
}

export interface CreateOptions<Params = any> extends NewInstance<Params, Date | number> {
  readonly parent?: { readonly workflowName: string; readonly instanceId: string };
}

export type CreateArguments<Params> = CreateArgumentsOf<
  Params,
  CreateOptions<Params>,
  [within?: WithinOptions]
>;

export interface SteeringOptions extends RepeatOptions {
  /** Who asks for it: a name or an address. The log of the run says what was done and by whom, in the category `operator`. */
  readonly actor?: string | undefined;
}

export interface TerminateOptions extends SteeringOptions {
  readonly reason?: string | null | undefined;
}

export interface RestartOptions extends FromStep, SteeringOptions {}

export interface RestartOrCreateOptions<Params = any> extends CreateOptions<Params>, SteeringOptions {
  readonly id: string;
  /** Restarts only what fits. */
  readonly when?: WireRestartCondition;
}

export type RestartedOrCreated = "created" | "restarted" | "unchanged";

export interface ListOptions extends InstanceFilter<Date | number>, PageOptions {
  /**
   * Without params and outputs, which are then undefined. They may be large, so that with them a page ends early once it has
   * `limits.maxPageBytes` of them, and goes on behind its cursor.
   */
  readonly brief?: boolean | undefined;
}

export interface LogsOptions extends RunOptions, LogFilter, PageOptions {
  /** Lines written after the one with this id; instead of a cursor. */
  readonly after?: string | undefined;
}

export interface BriefOptions {
  /** Without values, which may be large. */
  readonly brief?: boolean | undefined;
}
