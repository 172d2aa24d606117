import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import { readOptions } from "../model/read-options.ts";
import { type LimitOptions, limitsFrom } from "./check-limits.ts";
import type { Classify } from "./classify.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { checkEventType, checkWorkflowName } from "./names.ts";
import type { InferInput, InferOutput, StandardSchema } from "./standard-schema.ts";
import type { IfInterrupted, RetryConfig, WorkflowEvent, WorkflowStep } from "./workflow-step.ts";
import type { EventInputs, EventOutputs, EventSchemas, WorkflowTypes } from "./workflow-types.ts";

/** What a workflow is set to, but for its schemas. */
export interface WorkflowSettings<Name extends string = string> {
  /** Scope of instance ids in the store, and the name in every interface. At most 64 characters. */
  readonly name: Name;
  /** Defaults for the steps of this workflow. */
  readonly retries?: RetryConfig | false;
  readonly timeout?: Duration;
  /** For the steps of this workflow: run a body again that was cut off (default), or fail its step. */
  readonly ifInterrupted?: IfInterrupted;
  readonly limits?: LimitOptions;
  /** A step name used twice in a run is an error, whether one after the other or at the same time. */
  readonly strictStepNames?: boolean;
  /** How many instances may execute at once over all runners; the others stay queued. Waiting ones do not count. */
  readonly concurrency?: number;
  /** Ends the run this long after it started. */
  readonly maxRunDuration?: Duration;
  /** Ends the run when it has been suspended this long without a break. */
  readonly maxSuspendDuration?: Duration;
  /** How long finished instances are kept; for ever unless said. */
  readonly retention?: Duration;
  /** Tells transient from permanent errors; see `httpClassifier`. */
  readonly classify?: Classify;
}

/** Any Standard Schema will do: zod, valibot, arktype, ... */
export interface WorkflowOptions<Name extends string = string> extends WorkflowSettings<Name> {
  /** Checked before an instance is created. */
  readonly params?: StandardSchema | undefined;
  /** Checked when `run` returned. */
  readonly output?: StandardSchema | undefined;
  /** The events the workflow takes, by type, with the schema of their payloads. Checked before an event is stored. */
  readonly events?: EventSchemas | undefined;
}

export type WorkflowFunction<Params, Output, Events = any> = (
  event: WorkflowEvent<Params>,
  step: WorkflowStep<Events>,
) => Promise<Output> | Output;

/** How calls are matched with history and how pauses treat timers. Classes written for Cloudflare use "cloudflare". */
export type WorkflowMode = "everstep" | "cloudflare";

export interface WorkflowDefinition<Params = any, Output = any, Events = any, Name extends string = string> {
  readonly name: Name;
  readonly options: WorkflowOptions;
  readonly limits: Limits;
  readonly maxRunMs: number | null;
  readonly maxSuspendMs: number | null;
  readonly retentionMs: number | null;
  readonly mode: WorkflowMode;
  readonly run: WorkflowFunction<any, any>;
  /** Types only. */
  readonly "~types"?: WorkflowTypes<Params, Output, Events, Name>;
}

// The schemas are no part of an options type that names them already: to intersect a schema of ArkType with a wider one is
// more than the compiler goes through with.
interface CheckedParams<Schema> {
  readonly params: Schema;
}

interface FreeParams {
  readonly params?: undefined;
}

interface OtherSchemas<Output, Events> {
  readonly output?: Output;
  readonly events?: Events;
}

/** What a run may return: anything, unless a schema says what. */
type ReturnedFor<Schema extends StandardSchema> = [Schema] extends [never] ? unknown : InferInput<Schema>;

/** What callers get of it. */
type OutputOf<Schema extends StandardSchema, Returned> = [Schema] extends [never]
  ? Returned
  : InferOutput<Schema>;

/** Names a workflow and the function that is its definition. */
export function defineWorkflow<
  Params extends StandardSchema,
  Returned extends ReturnedFor<Output>,
  Name extends string = string,
  Output extends StandardSchema = never,
  Events extends EventSchemas = never,
>(
  options: WorkflowSettings<Name> & CheckedParams<Params> & OtherSchemas<Output, Events>,
  run: WorkflowFunction<InferOutput<Params>, Returned, EventOutputs<Events>>,
): WorkflowDefinition<InferInput<Params>, OutputOf<Output, Returned>, EventInputs<Events>, Name>;
export function defineWorkflow<
  Params = any,
  Returned extends ReturnedFor<Output> = any,
  Name extends string = string,
  Output extends StandardSchema = never,
  Events extends EventSchemas = never,
>(
  options: WorkflowSettings<Name> & FreeParams & OtherSchemas<Output, Events>,
  run: WorkflowFunction<Params, Returned, EventOutputs<Events>>,
): WorkflowDefinition<Params, OutputOf<Output, Returned>, EventInputs<Events>, Name>;
export function defineWorkflow(
  options: WorkflowOptions,
  run: WorkflowFunction<any, any>,
): WorkflowDefinition {
  return buildDefinition(options, run, "everstep");
}

export function buildDefinition(
  options: WorkflowOptions,
  run: WorkflowFunction<any, any>,
  mode: WorkflowMode,
): WorkflowDefinition {
  return readOptions("What the workflow was defined with", "INVALID_WORKFLOW_DEFINITION", () =>
    definitionOf(options, run, mode),
  );
}

function definitionOf(
  options: WorkflowOptions,
  run: WorkflowFunction<any, any>,
  mode: WorkflowMode,
): WorkflowDefinition {
  if (typeof options !== "object" || options === null) {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      'defineWorkflow needs an options object first: defineWorkflow({ name: "order" }, async (event, step) => { ... }).',
    );
  }
  const ofName = typeof options.name === "string" ? ` of workflow "${options.name}"` : "";
  const limits = limitsFrom(options.limits, defaultLimits, `limits${ofName}`, "INVALID_WORKFLOW_DEFINITION");
  checkWorkflowName(options.name, limits);
  if (typeof run !== "function") {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      `Workflow "${options.name}" has no function. Pass async (event, step) => { ... } as the second argument.`,
    );
  }
  checkNames(options, optionNames, `Workflow "${options.name}"`, "INVALID_WORKFLOW_DEFINITION");
  checkSchema(options.params, options.name, "params");
  checkSchema(options.output, options.name, "output");
  checkEvents(options.events, options.name, limits);
  const { concurrency, strictStepNames, ifInterrupted } = options;
  if (ifInterrupted !== undefined && ifInterrupted !== "retry" && ifInterrupted !== "fail") {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      `Workflow "${options.name}" has ifInterrupted ${String(ifInterrupted)}; use "retry" or "fail".`,
    );
  }
  if (strictStepNames !== undefined && typeof strictStepNames !== "boolean") {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      `Workflow "${options.name}" has strictStepNames ${String(strictStepNames)}; it must be true or false.`,
    );
  }
  if (concurrency !== undefined && !(Number.isSafeInteger(concurrency) && concurrency > 0)) {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      `Workflow "${options.name}" has concurrency ${String(concurrency)}; it must be a whole number above 0.`,
    );
  }
  return {
    name: options.name,
    options,
    limits,
    maxRunMs: durationOrNull(options.maxRunDuration, "maxRunDuration"),
    maxSuspendMs: durationOrNull(options.maxSuspendDuration, "maxSuspendDuration"),
    retentionMs: durationOrNull(options.retention, "retention"),
    mode,
    run,
  };
}

const optionNames: NamesOf<WorkflowOptions> = {
  name: true,
  params: true,
  output: true,
  events: true,
  retries: true,
  timeout: true,
  ifInterrupted: true,
  limits: true,
  strictStepNames: true,
  concurrency: true,
  maxRunDuration: true,
  maxSuspendDuration: true,
  retention: true,
  classify: true,
};

function checkSchema(schema: unknown, workflowName: string, what: string): void {
  if (schema === undefined) return;
  const standard = (schema as { readonly "~standard"?: { readonly validate?: unknown } } | null)?.[
    "~standard"
  ];
  if (typeof standard?.validate === "function") return;
  throw new EverstepError(
    "INVALID_WORKFLOW_DEFINITION",
    `${what} of workflow "${workflowName}" is not a schema. Pass a Standard Schema, such as z.object({ ... }) of zod.`,
  );
}

function checkEvents(events: unknown, workflowName: string, limits: Limits): void {
  if (events === undefined) return;
  if (typeof events !== "object" || events === null || Array.isArray(events)) {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      `events of workflow "${workflowName}" must be an object of schemas by event type: { approved: z.object({ ... }) }.`,
    );
  }
  for (const [type, schema] of Object.entries(events)) {
    checkEventType(type, limits);
    checkSchema(schema, workflowName, `events.${type}`);
  }
}

function durationOrNull(value: Duration | undefined, what: string): number | null {
  return value === undefined ? null : parseDuration(value, what);
}
