import type { LimitOptions } from "../authoring/check-limits.ts";
import {
  buildDefinition,
  type WorkflowDefinition,
  type WorkflowOptions,
} from "../authoring/define-workflow.ts";
import type { WorkflowEvent, WorkflowStep } from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { cloudflareStep } from "./step.ts";

/** What Cloudflare hands to a class beside its environment. */
export interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
  readonly props: unknown;
}

/** The class to extend, in place of the one of "cloudflare:workers". */
export class WorkflowEntrypoint<Env = unknown, Params = unknown> {
  protected readonly ctx: ExecutionContext;
  protected readonly env: Env;

  constructor(ctx: ExecutionContext, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }

  // biome-ignore lint/correctness/noUnusedFunctionParameters: they are what a subclass gets
  async run(event: Readonly<WorkflowEvent<Params>>, step: WorkflowStep): Promise<unknown> {
    throw runIsMissing(this.constructor.name);
  }
}

/** A class with a `run`; it need not extend ours. */
export type EntrypointClass<Params, Output> = new (
  // biome-ignore lint/suspicious/noExplicitAny: each class says itself what it is constructed with
  ctx: any,
  // biome-ignore lint/suspicious/noExplicitAny: each class says itself what it is constructed with
  env: any,
) => {
  run(event: Readonly<WorkflowEvent<Params>>, step: WorkflowStep): Promise<Output> | Output;
};

/** What a class is constructed with. A function is asked anew each time: bindings often exist only after the app. */
export interface EntrypointHost<Env> {
  readonly env?: Env | (() => Env);
  readonly ctx?: ExecutionContext | (() => ExecutionContext);
}

type EnvOf<Class> = Class extends new (ctx: never, env: infer Env) => unknown ? Env : never;
type ParamsOf<Class> = Class extends EntrypointClass<infer Params, unknown> ? Params : never;
type OutputOf<Class> = Class extends EntrypointClass<never, infer Output> ? Output : never;

/** As documented for Cloudflare, where that is more than everstep's own. */
const cloudflareLimits: LimitOptions = { maxSteps: 10_000, minWaitTimeout: 0 };

/**
 * Makes a workflow of a class written for Cloudflare: steps are known by kind, name and occurrence, a pause stops the
 * clock, and errors have Cloudflare's names. The class is constructed for every passage of `run`.
 */
export function defineEntrypoint<Class extends EntrypointClass<never, unknown>>(
  options: WorkflowOptions,
  entrypoint: Class,
  host: EntrypointHost<EnvOf<Class>> = {},
): WorkflowDefinition<ParamsOf<Class>, Awaited<OutputOf<Class>>> {
  if (typeof entrypoint !== "function") {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      'defineEntrypoint needs a class second: defineEntrypoint({ name: "order" }, class extends WorkflowEntrypoint { ... }).',
    );
  }
  const run = (event: WorkflowEvent, step: WorkflowStep): unknown => {
    const instance = new entrypoint(current(host.ctx) ?? standaloneContext, current(host.env) ?? {});
    if (typeof instance.run !== "function") throw runIsMissing(entrypoint.name);
    return instance.run(event as never, cloudflareStep(step, definition.limits.defaultWaitTimeoutMs));
  };
  const definition = buildDefinition(
    { ...options, limits: { ...cloudflareLimits, ...options?.limits } },
    run,
    "cloudflare",
  );
  return definition;
}

/** There is no request to outlive here; as on Cloudflare, a failure in the background is nobody's result. */
const standaloneContext: ExecutionContext = {
  waitUntil(promise) {
    Promise.resolve(promise).catch(() => {});
  },
  passThroughOnException() {},
  props: {},
};

function current<Value>(given: Value | (() => Value) | undefined): Value | undefined {
  return typeof given === "function" ? (given as () => Value)() : given;
}

function runIsMissing(className: string): EverstepError {
  return new EverstepError(
    "INVALID_WORKFLOW_DEFINITION",
    `${className || "The workflow's class"} has no run method. Add one: async run(event, step) { ... }.`,
  );
}
