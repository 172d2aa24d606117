/** Workflows as a fragment: createWorkflowsFragment, with what workflows are written with. */
export { defineWorkflow, type WorkflowDefinition } from "../authoring/define-workflow.ts";
export type { Duration as WorkflowDuration } from "../authoring/duration.ts";
export { NonRetryableError, WaitForEventTimeoutError } from "../authoring/errors.ts";
export type {
  StepConfig as WorkflowStepConfig,
  StepContext as WorkflowStepTx,
  WorkflowEvent,
  WorkflowLogger,
  WorkflowStep,
} from "../authoring/workflow-step.ts";
export type { InstanceHandle as WorkflowInstance } from "../handles/instance-handle.ts";
export type { CreateOptions as WorkflowInstanceCreateOptions } from "../handles/options.ts";
export type { InstanceStatusView as InstanceStatus } from "../handles/views.ts";
export type { WorkflowHandle as Workflow } from "../handles/workflow-handle.ts";
export type { LogLevel as WorkflowLogLevel } from "../model/log-line.ts";
export type { HistoryPage } from "../wire/index.ts";
export { createWorkflowsFragment, type WorkflowsFragment } from "./create-workflows-fragment.ts";
export type {
  RunnerTickOptions,
  WorkflowEnqueuedHookPayload,
  WorkflowsAuthorizeContext,
  WorkflowsAuthorizeHook,
  WorkflowsAuthorizeInstanceCreationContext,
  WorkflowsAuthorizeManagementContext,
  WorkflowsAuthorizeReadContext,
  WorkflowsAuthorizeRunnerTickContext,
  WorkflowsAuthorizeSendEventContext,
  WorkflowsDispatcher,
  WorkflowsFragmentConfig,
  WorkflowsFragmentOptions,
  WorkflowsRegistry,
  WorkflowsRunner,
} from "./fragment-config.ts";
export { type FragnoRuntime, fragnoRuntime } from "./fragno-runtime.ts";
export type {
  InstanceDetails,
  InstanceMeta,
  InstancePage,
  ListHistoryOptions,
  WorkflowsServices,
} from "./services.ts";
