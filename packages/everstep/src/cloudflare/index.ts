/** What code written for Cloudflare Workflows imports instead of "cloudflare:workers" and "cloudflare:workflows". */
export { NonRetryableError } from "../authoring/errors.ts";
export type {
  ReceivedEvent as WorkflowStepEvent,
  StepConfig as WorkflowStepConfig,
  StepContext as WorkflowStepContext,
  WorkflowEvent,
  WorkflowStep,
} from "../authoring/workflow-step.ts";
export {
  createBinding,
  type InstanceStatus,
  type Workflow,
  type WorkflowInstance,
  type WorkflowInstanceCreateOptions,
  type WorkflowInstanceRestartOptions,
  type WorkflowInstanceStatus,
} from "./binding.ts";
export {
  defineEntrypoint,
  type EntrypointClass,
  type EntrypointHost,
  type ExecutionContext,
  WorkflowEntrypoint,
} from "./entrypoint.ts";
