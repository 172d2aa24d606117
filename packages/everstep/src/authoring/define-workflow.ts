import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import { readOptions } from "../model/read-options.ts";
import { limitsFrom } from "./check-limits.ts";
import type { Classify } from "./classify.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { checkWorkflowName } from "./names.ts";
import type { InferInput, InferOutput, StandardSchema } from "./standard-schema.ts";
import type { RetryConfig, WorkflowEvent, WorkflowStep } from "./workflow-step.ts";

export interface WorkflowOptions {
  /** Scope of instance ids in the store, and the name in every interface. At most 64 characters. */
  readonly name: string;
  /** Checked before an instance is created. Any Standard Schema (zod, valibot, arktype, ...). */
  readonly params?: StandardSchema;
  /** Checked when `run` returned. */
  readonly output?: StandardSchema;
  /** Defaults for the steps of this workflow. */
  readonly retries?: RetryConfig | false;
  readonly timeout?: Duration;
  readonly limits?: Partial<Limits>;
  /** A step name used twice in a run is an error. */
  readonly strictStepNames?: boolean;
  /** How many instances may execute at once over all runners; the others stay queued. Waiting ones do not count. */
  readonly concurrency?: number;
  /** Ends the run this long after it started. */
  readonly maxRunDuration?: Duration;
  /** Ends the run when it has been suspended this long without a break. */
  readonly maxSuspendDuration?: Duration;
  /** How long finished instances are kept; for ever unless said. */
  readonly ttl?: Duration;
  /** Tells transient from permanent errors; see `httpClassifier`. */
  readonly classify?: Classify;
}

export type WorkflowFunction<Params, Output> = (
  event: WorkflowEvent<Params>,
  step: WorkflowStep,
) => Promise<Output> | Output;

/** How calls are matched with history and how pauses treat timers. Classes written for Cloudflare use "cloudflare". */
export type WorkflowMode = "everstep" | "cloudflare";

export interface WorkflowDefinition<Params = any, Output = any> {
  readonly name: string;
  readonly options: WorkflowOptions;
  readonly limits: Limits;
  readonly maxRunMs: number | null;
  readonly maxSuspendMs: number | null;
  readonly ttlMs: number | null;
  readonly mode: WorkflowMode;
  readonly run: WorkflowFunction<any, any>;
  /** Types only. */
  readonly "~types"?: { readonly params: Params; readonly output: Output };
}

/** Names a workflow and the function that is its definition. */
export function defineWorkflow<Schema extends StandardSchema, Output>(
  options: WorkflowOptions & { readonly params: Schema },
  run: WorkflowFunction<InferOutput<Schema>, Output>,
): WorkflowDefinition<InferInput<Schema>, Output>;
export function defineWorkflow<Params = any, Output = any>(
  options: WorkflowOptions,
  run: WorkflowFunction<Params, Output>,
): WorkflowDefinition<Params, Output>;
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
  const { concurrency, strictStepNames } = options;
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
    ttlMs: durationOrNull(options.ttl, "ttl"),
    mode,
    run,
  };
}

const optionNames: NamesOf<WorkflowOptions> = {
  name: true,
  params: true,
  output: true,
  retries: true,
  timeout: true,
  limits: true,
  strictStepNames: true,
  concurrency: true,
  maxRunDuration: true,
  maxSuspendDuration: true,
  ttl: true,
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

function durationOrNull(value: Duration | undefined, what: string): number | null {
  return value === undefined ? null : parseDuration(value, what);
}
