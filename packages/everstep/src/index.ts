/** What authors and hosts import. */

export { defaultLimitOptions as defaultLimits, type LimitOptions } from "./authoring/check-limits.ts";
export { type Classify, type ErrorCategory, httpClassifier } from "./authoring/classify.ts";
export {
  defineWorkflow,
  type WorkflowDefinition,
  type WorkflowFunction,
  type WorkflowOptions,
  type WorkflowSettings,
} from "./authoring/define-workflow.ts";
export type { Duration } from "./authoring/duration.ts";
export {
  NonRetryableError,
  RetryAfterError,
  StepTimeoutError,
  WaitForEventTimeoutError,
} from "./authoring/errors.ts";
export type { InferInput, InferOutput, StandardSchema } from "./authoring/standard-schema.ts";
export type {
  Backoff,
  EventAddress,
  IfInterrupted,
  LogOptions,
  OutgoingEvent,
  ReceivedEvent,
  RetryConfig,
  RetryDelay,
  StepCallback,
  StepConfig,
  StepContext,
  TopicWait,
  TypeWait,
  WaitOptions,
  WorkflowEvent,
  WorkflowLogger,
  WorkflowStep,
} from "./authoring/workflow-step.ts";
export type { EventSchemas, TypedWorkflow, TypesOf, WorkflowTypes } from "./authoring/workflow-types.ts";
export type { RunnerSettings, StopOptions } from "./client/app-options.ts";
export type { CheckOptions } from "./client/check-code.ts";
export type { LifecycleHooks, Transition } from "./client/lifecycle-hooks.ts";
export type { DueOptions, DueView } from "./client/list-due.ts";
export { replayHistory } from "./client/replay-history.ts";
export type { VerifyOptions } from "./client/verify-app.ts";
export { statusFrom } from "./engine/instance-words.ts";
export type { RestartCondition } from "./engine/lifecycle.ts";
export type {
  AppHandle,
  BriefOptions,
  CreateOptions,
  InstanceDetails,
  InstanceHandle,
  InstanceResult,
  InstanceSnapshot,
  InstanceStatusView,
  InstanceView,
  ListOptions,
  LogsOptions,
  RestartedOrCreated,
  RestartOptions,
  RestartOrCreateOptions,
  SteeringOptions,
  TerminateOptions,
  WhyReason,
  WhyView,
  WithinOptions,
  WorkflowHandle,
} from "./handles/index.ts";
export {
  type Authorize,
  type AuthorizeContext,
  type AuthorizeHook,
  type AuthorizeInstanceCreationContext,
  type AuthorizeManagementContext,
  type AuthorizeReadContext,
  type AuthorizeRunnerTickContext,
  type AuthorizeSendEventContext,
  allowAll,
  refuse,
} from "./http/authorize.ts";
export { type BearerTokenOptions, bearerToken } from "./http/bearer-token.ts";
export { type App, type AppOptions, createWorkflows } from "./http/create-workflows.ts";
export type { Dashboard, DashboardFile } from "./http/dashboard/dashboard.ts";
export { createHandler, type Handler } from "./http/handler.ts";
export type { HandlerOptions, HttpOptions } from "./http/http-options.ts";
export type { CorsOptions } from "./http/origin.ts";
export {
  createQueueHandler,
  type QueueBatch,
  type QueueHandler,
  type QueueHandlerOptions,
  type QueueMessage,
  type QueueReport,
} from "./http/queue-handler.ts";
export { type ErrorCode, EverstepError, StoreError, type StoreFailure } from "./model/error.ts";
export type { InstanceRef, InstanceStatus, TerminationReason } from "./model/instance.ts";
export type { Limits } from "./model/limits.ts";
export type { LogLevel } from "./model/log-line.ts";
export type {
  AttemptEnd,
  LeaseLoss,
  LostLease,
  Notice,
  ObservedAttempt,
  ObservedClaim,
  ObservedRetry,
  ObservedRun,
  ObservedStep,
  ObservedStoreCall,
  ObservedTurn,
  ObservedWait,
  ObservedWrite,
  Observer,
  StoreCallEnd,
  TurnEnd,
  TurnKind,
  WaitEnd,
} from "./model/observer.ts";
export type { AsyncScope, Runtime, Timer } from "./model/runtime.ts";
export type { StepSelector, StepStatus, StepType } from "./model/step.ts";
export type { Dispatcher, WakeHint, WakeReason } from "./runner/hints.ts";
export type { StopReport } from "./runner/runner.ts";
export type { TickOptions } from "./runner/ticks.ts";
export { systemRuntime } from "./system-runtime.ts";
export type { CheckProgress, CheckReport } from "./verify/replay/check-report.ts";
export type { ReplayClassification } from "./verify/replay/classification.ts";
export type { ExportHistoryOptions } from "./verify/replay/export-history.ts";
export type { ReplayFinding } from "./verify/replay/finding.ts";
export type { HistoryDocument } from "./verify/replay/history-document.ts";
export type { Redact, RedactPlace } from "./verify/replay/redact.ts";
export type { AskedStepView, ReplayOptions, ReplayResult } from "./verify/replay/replay-history.ts";
export type {
  Unreadable,
  VerifyProgress,
  VerifyReport,
  VerifyWarning,
} from "./verify/verify-report.ts";
export type { Explanation, Violation } from "./verify/violation.ts";
export type {
  ActivityBucket,
  ActivityView,
  AttemptErrorView,
  ErrorView,
  EventView,
  HistoryPage,
  InstanceFacts,
  LogLineView,
  RunnerView,
  StepView,
  TopicView,
  WaiterView,
  WorkflowManifest,
} from "./wire/index.ts";
export type {
  ActivityOptions,
  ForkOptions,
  HistoryPageOptions,
  PageOptions,
  RepeatOptions,
  ResultOptions,
  RetryOptions,
  RunOptions,
} from "./wire/options.ts";
export type { PageView } from "./wire/page.ts";
