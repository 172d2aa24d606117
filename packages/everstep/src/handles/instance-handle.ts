import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type { StepSelector } from "../model/step.ts";
import type { ExportHistoryOptions } from "../verify/replay/export-history.ts";
import type { HistoryDocument } from "../verify/replay/history-document.ts";
import type { HistoryPage, LogLineView, StepView } from "../wire/index.ts";
import type {
  DeleteOptions,
  ForkOptions,
  HistoryPageOptions,
  ResultOptions,
  RetryOptions,
  RunOptions,
} from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import type {
  BriefOptions,
  LogsOptions,
  RestartOptions,
  SteeringOptions,
  TerminateOptions,
  WithinOptions,
} from "./options.ts";
import type {
  InstanceDetails,
  InstanceResult,
  InstanceSnapshot,
  InstanceStatusView,
  InstanceView,
  WhyView,
} from "./views.ts";

/** One instance, by its id, in this process or from a client. Every call asks the store; the handle keeps nothing. */
export interface InstanceHandle<Output = any, Events = any> {
  readonly id: string;
  readonly workflowName: string;

  status(): Promise<InstanceStatusView<Output>>;
  /** Everything about the instance, its current step included. */
  details(): Promise<InstanceDetails<Output>>;
  /** Everything about the instance, with all steps of its current run; in brief without what they returned. */
  snapshot(options?: BriefOptions): Promise<InstanceSnapshot<Output>>;
  /** Waits for the instance to end. */
  result(options?: ResultOptions): Promise<InstanceResult<Output>>;
  /** One step of a run with its result, by its index. */
  step(index: number, options?: RunOptions): Promise<StepView>;
  /**
   * Steps and events of a run, the current one unless another is named, and its log if asked for. Pages of values that are
   * large end early and go on behind their cursors (`limits.maxPageBytes`).
   */
  history(options?: HistoryPageOptions): Promise<HistoryPage>;
  logs(options?: LogsOptions): Promise<PageView<LogLineView>>;
  /** Why it is not moving, in one sentence. */
  why(): Promise<WhyView>;
  /** A run as one document that `replayHistory` can replay elsewhere, without the store; plain JSON. */
  exportHistory(options?: ExportHistoryOptions): Promise<HistoryDocument>;
  /** All runs of this instance, newest first. In brief without params and outputs, which may be large. */
  runs(options?: BriefOptions): Promise<readonly InstanceView<Output>[]>;

  /** Stops it after the step in flight. Timers keep counting, events are kept. */
  pause(options?: SteeringOptions): Promise<void>;
  /** Continues a paused instance; has no effect on others. */
  resume(options?: SteeringOptions): Promise<void>;
  /** Ends it for good. What a body in flight returns later is refused. */
  terminate(options?: TerminateOptions): Promise<void>;
  /**
   * Removes it with everything recorded of it: all runs, steps, events and log lines. One that has not ended is refused
   * (INSTANCE_NOT_TERMINAL) unless `force` is given. Its id may be created again at once.
   */
  delete(options?: DeleteOptions<Date>): Promise<void>;
  /** Runs it again from the beginning, or from a step, as its next run. Allowed in every status. */
  restart(options?: RestartOptions): Promise<void>;
  /** Runs it again from a step: `restart({ from: step })`. */
  rewind(step: StepSelector, options?: SteeringOptions): Promise<void>;
  /** A new instance that begins with what this one recorded before a step. */
  fork(options?: ForkOptions): Promise<InstanceHandle<Output, Events>>;
  /**
   * Gives the step that failed an errored instance one more attempt, within the same run. A run that the engine gave up
   * (CRASH_LOOP, ...) goes on where it was.
   */
  retryFailedStep(options?: SteeringOptions & RetryOptions): Promise<void>;
  /** Ends the sleep it is in now; has no effect when it is in none. */
  skipSleep(options?: SteeringOptions): Promise<void>;
  /**
   * Sends an event to this instance. It waits until the workflow asks for its type. With `{ tx }`, a transaction of your
   * own on the store's database, it is sent when that commits.
   */
  sendEvent(event: OutgoingEvent<Events>, within?: WithinOptions): Promise<void>;
}
