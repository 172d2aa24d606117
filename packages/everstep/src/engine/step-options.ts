import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import type {
  Backoff,
  ResolvedStepConfig,
  RetryConfig,
  RetryDelay,
  StepConfig,
} from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { stepDefaults } from "../model/limits.ts";
import { readOptions } from "../model/read-options.ts";

/** A step's configuration with every default filled in and every duration in milliseconds. */
export interface StepOptions {
  /** null: without limit. */
  readonly maxAttempts: number | null;
  readonly delay: number | RetryDelay;
  readonly backoff: Backoff;
  readonly factor: number;
  readonly maxDelayMs: number | null;
  readonly timeoutMs: number;
  readonly repeat: boolean;
  readonly failWhenInterrupted: boolean;
  /** Its result is shown to nobody who only looks. */
  readonly isSensitive: boolean;
  /** As the callback sees it. */
  readonly shown: ResolvedStepConfig;
}

/**
 * Resolved once per definition and config object: authors mostly pass none, or the same object again and again. One that
 * was changed meanwhile is resolved again.
 */
export class StepOptionsResolver {
  readonly #definition: WorkflowDefinition;
  readonly #defaults: StepOptions;
  readonly #known = new WeakMap<StepConfig, { readonly seen: StepConfig; readonly options: StepOptions }>();

  constructor(definition: WorkflowDefinition) {
    this.#definition = definition;
    this.#defaults = resolve({}, definition, "the workflow's defaults");
  }

  resolve(config: unknown, stepName: string): StepOptions {
    if (config === undefined || config === null) return this.#defaults;
    if (typeof config !== "object") throw invalid(stepName, `is ${typeof config}, not an object`);
    return readOptions(`The configuration of step "${stepName}"`, "INVALID_STEP_CONFIG", () =>
      this.#read(config, stepName),
    );
  }

  #read(config: StepConfig, stepName: string): StepOptions {
    const known = this.#known.get(config);
    if (known && isUnchanged(config, known.seen)) return known.options;
    const options = resolve(config, this.#definition, `step "${stepName}"`);
    this.#known.set(config, { seen: copyOf(config), options });
    return options;
  }
}

function copyOf(config: StepConfig): StepConfig {
  const { retries } = config;
  return typeof retries === "object" && retries !== null
    ? { ...config, retries: { ...retries } }
    : { ...config };
}

/** Field by field: cheaper than to resolve it. */
function isUnchanged(config: StepConfig, seen: StepConfig): boolean {
  for (const field of configFields) {
    if (field !== "retries" && config[field] !== seen[field]) return false;
  }
  const now = config.retries;
  const then = seen.retries;
  if (typeof now !== "object" || typeof then !== "object") return now === then;
  if (now === null || then === null) return now === then;
  return retryFields.every((field) => now[field] === then[field]);
}

const configNames: NamesOf<StepConfig> = {
  retries: true,
  timeout: true,
  repeat: true,
  ifInterrupted: true,
  sensitive: true,
  retriesAllowed: true,
  maxAttempts: true,
  intervalSeconds: true,
  backoffRate: true,
  timeoutSeconds: true,
};
const retryNames: NamesOf<RetryConfig> = { limit: true, delay: true, backoff: true, maxDelay: true };
const configFields = Object.keys(configNames) as (keyof StepConfig)[];
const retryFields = Object.keys(retryNames) as (keyof RetryConfig)[];

const resolvers = new WeakMap<WorkflowDefinition, StepOptionsResolver>();

export function stepOptionsOf(definition: WorkflowDefinition): StepOptionsResolver {
  let resolver = resolvers.get(definition);
  if (!resolver) {
    resolver = new StepOptionsResolver(definition);
    resolvers.set(definition, resolver);
  }
  return resolver;
}

function resolve(config: StepConfig, definition: WorkflowDefinition, what: string): StepOptions {
  const base = definition.options.retries;
  if (base !== undefined && base !== false && (typeof base !== "object" || base === null)) {
    throw invalid(what, "has retries that are neither an object nor false");
  }
  const defaults: RetryConfig = base === false ? { limit: 0 } : (base ?? {});
  const own = ownRetries(config, what);
  // Cloudflare ignores what it does not know.
  if (definition.mode !== "cloudflare") {
    checkNames(config, configNames, `The configuration of ${what}`, "INVALID_STEP_CONFIG");
    checkRetries(config.retries, what);
    checkRetries(base, what);
    checkFlag(config.repeat, "repeat", what);
    checkFlag(config.retriesAllowed, "retriesAllowed", what);
    checkWhole(config.maxAttempts, "maxAttempts", what);
  }
  const retries: RetryConfig = { ...defaults, ...own };
  const limit = retries.limit ?? stepDefaults.retryLimit;
  if (typeof limit !== "number" || Number.isNaN(limit) || limit < 0) {
    throw invalid(what, `has retries.limit ${String(limit)}; it is the number of retries, 0 or more`);
  }
  // A rate is a wish for delays that grow by it, whatever the workflow's own steps do.
  const wished = config.backoffRate === undefined ? retries.backoff : (own.backoff ?? "exponential");
  const backoff = wished ?? stepDefaults.backoff;
  if (backoff !== "constant" && backoff !== "linear" && backoff !== "exponential") {
    throw invalid(what, `has backoff ${String(backoff)}; use "constant", "linear" or "exponential"`);
  }
  const delay = retries.delay ?? stepDefaults.retryDelayMs;
  const timeout: Duration = ownTimeout(config) ?? definition.options.timeout ?? "10 minutes";
  const timeoutMs = parseDuration(timeout, `timeout of ${what}`);
  checkDuration(timeoutMs, { min: 1, max: definition.limits.maxStepTimeoutMs }, `timeout of ${what}`);
  const { ifInterrupted = definition.options.ifInterrupted ?? "retry" } = config;
  if (ifInterrupted !== "retry" && ifInterrupted !== "fail") {
    throw invalid(what, `has ifInterrupted ${String(ifInterrupted)}; use "retry" or "fail"`);
  }
  if (config.sensitive !== undefined && config.sensitive !== "output") {
    throw invalid(what, `has sensitive ${String(config.sensitive)}; use "output", or leave it out`);
  }
  return {
    maxAttempts: limit >= endlessRetries ? null : Math.floor(limit) + 1,
    delay: typeof delay === "function" ? delay : parseDuration(delay, `retry delay of ${what}`),
    backoff,
    factor: factorOf(config, what),
    maxDelayMs:
      retries.maxDelay === undefined ? null : parseDuration(retries.maxDelay, `maxDelay of ${what}`),
    timeoutMs,
    repeat: config.repeat === true,
    failWhenInterrupted: ifInterrupted === "fail",
    isSensitive: config.sensitive === "output",
    shown: Object.freeze({ retries: Object.freeze({ limit, delay, backoff }), timeout }),
  };
}

/** Nobody makes as many attempts; stores could not keep all numbers beyond. */
const endlessRetries = 1_000_000_000;

function checkRetries(retries: RetryConfig | false | undefined, what: string): void {
  if (typeof retries !== "object") return;
  checkNames(retries, retryNames, `retries of ${what}`, "INVALID_STEP_CONFIG");
  checkWhole(retries.limit, "retries.limit", what);
}

function checkWhole(value: unknown, name: string, what: string): void {
  if (typeof value !== "number" || !(value % 1 > 0)) return;
  throw invalid(what, `has ${name} ${value}; it must be a whole number, or Infinity`);
}

function checkFlag(value: unknown, name: string, what: string): void {
  if (value === undefined || typeof value === "boolean") return;
  throw invalid(what, `has ${name} ${String(value)}; it must be true or false`);
}

function ownRetries(config: StepConfig, what: string): RetryConfig {
  const { retries } = config;
  if (retries === false || config.retriesAllowed === false) return { limit: 0 };
  if (retries !== undefined && (typeof retries !== "object" || retries === null)) {
    throw invalid(what, "has retries that are neither an object nor false");
  }
  const alias: { limit?: number; delay?: Duration } = {};
  if (config.maxAttempts !== undefined) {
    if (!(config.maxAttempts >= 1)) {
      throw invalid(what, `has maxAttempts ${String(config.maxAttempts)}; it must be 1 or more`);
    }
    alias.limit = config.maxAttempts - 1;
  }
  if (config.intervalSeconds !== undefined) {
    alias.delay = parseDuration(config.intervalSeconds * 1000, `intervalSeconds of ${what}`);
  }
  return { ...alias, ...withoutUndefined(retries ?? {}) };
}

/** A field that is undefined is left out: it must not hide the workflow's own default. */
function withoutUndefined(retries: RetryConfig): RetryConfig {
  return Object.fromEntries(Object.entries(retries).filter(([, value]) => value !== undefined));
}

function ownTimeout(config: StepConfig): Duration | undefined {
  if (config.timeout !== undefined) return config.timeout;
  return config.timeoutSeconds === undefined ? undefined : config.timeoutSeconds * 1000;
}

function factorOf(config: StepConfig, what: string): number {
  const rate = config.backoffRate ?? 2;
  if (!(typeof rate === "number" && rate >= 1 && Number.isFinite(rate))) {
    throw invalid(what, `has backoffRate ${String(rate)}; it must be a number of at least 1`);
  }
  return rate;
}

function invalid(what: string, complaint: string): EverstepError {
  return new EverstepError("INVALID_STEP_CONFIG", `The configuration of ${what} ${complaint}.`);
}
