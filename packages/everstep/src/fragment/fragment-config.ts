import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type {
  AuthorizeContext,
  AuthorizeHook,
  AuthorizeInstanceCreationContext,
  AuthorizeManagementContext,
  AuthorizeReadContext,
  AuthorizeRunnerTickContext,
  AuthorizeSendEventContext,
} from "../http/authorize.ts";
import type { AppOptions } from "../http/create-workflows.ts";
import type { HttpOptions } from "../http/http-options.ts";
import type { FragnoRuntime } from "./fragno-runtime.ts";

/** Workflows by the name code uses for them. */
export type WorkflowsRegistry = Record<string, WorkflowDefinition>;

export interface WorkflowsFragmentConfig<Workflows extends WorkflowsRegistry = WorkflowsRegistry> {
  readonly workflows?: Workflows;
  /** Told after every commit that makes work due, so that it can set a runner going. Without it, polling finds the work. */
  readonly dispatcher?: WorkflowsDispatcher;
  /**
   * Who takes the turns when the tick route is called. Left out, it is the fragment's own runner, since a fragment comes
   * with one. `null` says that nothing is run here: the route answers RUNNER_NOT_AVAILABLE.
   */
  readonly runner?: WorkflowsRunner | null;
  readonly runtime: FragnoRuntime;

  // Who may use the HTTP API: a route is open once a hook covers it, and closed before.
  /** Asked first, for every route. */
  readonly authorizeRequest?: WorkflowsAuthorizeHook<WorkflowsAuthorizeContext>;
  readonly authorizeInstanceCreation?: WorkflowsAuthorizeHook<WorkflowsAuthorizeInstanceCreationContext>;
  readonly authorizeRead?: WorkflowsAuthorizeHook<WorkflowsAuthorizeReadContext>;
  readonly authorizeManagement?: WorkflowsAuthorizeHook<WorkflowsAuthorizeManagementContext>;
  readonly authorizeSendEvent?: WorkflowsAuthorizeHook<WorkflowsAuthorizeSendEventContext>;
  /** The tick route exists only where this is said. */
  readonly authorizeRunnerTick?: WorkflowsAuthorizeHook<WorkflowsAuthorizeRunnerTickContext>;
}

export interface WorkflowsDispatcher {
  wake(payload: WorkflowEnqueuedHookPayload): unknown;
}

/** An instance wants a turn. */
export interface WorkflowEnqueuedHookPayload {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly reason: "create" | "event" | "resume" | "retry" | "wake";
  /** When, if that is later than now. */
  readonly dueAt?: Date;
}

export interface WorkflowsRunner {
  /** One sweep; how many instances had a turn. */
  tick(options: RunnerTickOptions): Promise<number | { readonly processed: number }> | number;
}

export interface RunnerTickOptions {
  readonly maxInstances?: number;
  readonly maxSteps?: number;
}

export type WorkflowsAuthorizeHook<Context> = AuthorizeHook<Context>;
export type WorkflowsAuthorizeContext = AuthorizeContext;
export type WorkflowsAuthorizeInstanceCreationContext = AuthorizeInstanceCreationContext;
export type WorkflowsAuthorizeReadContext = AuthorizeReadContext;
export type WorkflowsAuthorizeManagementContext = AuthorizeManagementContext;
export type WorkflowsAuthorizeSendEventContext = AuthorizeSendEventContext;
export type WorkflowsAuthorizeRunnerTickContext = AuthorizeRunnerTickContext;

/** Where a fragment lives. Everything but `store` and `mountRoute` is as in createWorkflows. */
export interface WorkflowsFragmentOptions
  extends Omit<AppOptions<WorkflowsRegistry>, "workflows" | "dispatcher" | "runtime" | "authorize" | "http"> {
  /** Where the routes are mounted. Default: "/api/workflows". */
  readonly mountRoute?: string;
  readonly http?: Omit<HttpOptions, "basePath" | "tick">;
}
