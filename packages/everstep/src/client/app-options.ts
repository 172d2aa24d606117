/** What an app is set to, checked when it is made: a mistake is told there, not by what goes wrong later. */
import type { LimitOptions } from "../authoring/check-limits.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { runnerDefaults } from "../model/limits.ts";
import { type Observer, observerNames } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import type { Dispatcher } from "../runner/hints.ts";
import type { TickOptions } from "../runner/ticks.ts";
import type { Store } from "../store/store.ts";
import { systemRuntime } from "../system-runtime.ts";
import type { ShowSensitive } from "./app-parts.ts";
import type { LifecycleHooks } from "./lifecycle-hooks.ts";

export interface AppOptions<Workflows extends Record<string, WorkflowDefinition>> {
  /** The workflows of this app, by the name code uses for them. */
  readonly workflows: Workflows;
  readonly store: Store;
  /** Time and randomness; the system's unless given. What is left out of it is taken from the system. */
  readonly runtime?: Partial<Runtime>;
  /** For all workflows of the app; a workflow's own limits win. */
  readonly limits?: LimitOptions;
  readonly runner?: RunnerSettings;
  /**
   * What happens to instances whose process died: the next runner continues them (default), or they become errored with
   * INTERRUPTED_BY_RESTART. Needs a store that notices dead processes.
   */
  readonly ifInterrupted?: "retry" | "fail";
  /** Told of runs that ended or were restarted, at least once. Give the same hooks to every process of an app. */
  readonly hooks?: LifecycleHooks;
  /**
   * Told of every instance that wants a turn, after the commit that made it so: for hosts where no runner polls. Only
   * hints; what this process takes up itself in the same commit is left out.
   */
  readonly dispatcher?: Dispatcher;
  /**
   * Told in one line of every attempt that failed and every run that ended with an error. Default: console.warn. What
   * happened is in the instance's history too; this is for whoever watches the process. Control characters and line breaks
   * in it are shown as escapes (`\x1b`, `\n`).
   */
  readonly onNotice?: (notice: string) => void;
  /**
   * Told of what happens, as it happens: claims, turns, attempts, retries, waits, writes, lost leases and calls of the store. The
   * seam for metrics, spans and logs. They only look on: what they throw is a notice, once, and harms nothing.
   */
  readonly observers?: readonly Observer[];
  /** Lets results of steps marked `sensitive: "output"` be shown. They are not unless this says so. */
  readonly showSensitive?: ShowSensitive;
  /** Told of problems that are nobody's result (the store is out of reach, a row cannot be read). Default: console. */
  readonly onProblem?: (problem: unknown) => void;
}

export interface StopOptions {
  /** How long bodies in flight may go on; default 25 seconds. */
  readonly grace?: Duration;
  /** What else still needs the store, such as a server that closes: it is served until this has settled. */
  readonly until?: PromiseLike<unknown>;
}

export interface RunnerSettings {
  /** Instances that may execute in this process at once. */
  readonly concurrency?: number;
  /**
   * How long a crashed process's work stays its own where its death cannot be noticed otherwise; at least a second, because
   * it is renewed several times while it lasts.
   */
  readonly lease?: Duration;
  /** How often it looks for work at first; at least 10 milliseconds, as `minPoll` and `maxPoll`. */
  readonly poll?: Duration;
  readonly minPoll?: Duration;
  readonly maxPoll?: Duration;
  /** Suspended instances kept in memory, so that they continue without replay. */
  readonly maxResidents?: number;
  /**
   * Bytes of stored values (params, results, events) that instances in progress may hold here before no more of them are
   * taken up; suspended ones may hold half as much.
   */
  readonly maxMemoryBytes?: number;
}

/** A shorter lease runs out before its holder can renew it, and bodies start twice. */
const leaseMsLeast = 1000;
/** A runner that looks more often does nothing else. */
const pollMsLeast = 10;

const runnerNames: NamesOf<RunnerSettings> = {
  concurrency: true,
  lease: true,
  poll: true,
  minPoll: true,
  maxPoll: true,
  maxResidents: true,
  maxMemoryBytes: true,
};

const hookNames: NamesOf<LifecycleHooks> = { onEnded: true, onRestarted: true };

export const appNames: NamesOf<AppOptions<never>> = {
  workflows: true,
  store: true,
  runtime: true,
  limits: true,
  runner: true,
  ifInterrupted: true,
  hooks: true,
  dispatcher: true,
  observers: true,
  onNotice: true,
  showSensitive: true,
  onProblem: true,
};

/** What an app is made with, but for what is checked where it is read. */
export function checkApp(options: AppOptions<never>, names: Readonly<Record<string, true>> = appNames): void {
  if (typeof options !== "object" || options === null)
    throw invalid("createWorkflows needs { workflows, store }.");
  checkNames(options, names, "createWorkflows");
  if (typeof options.store?.write !== "function") {
    throw invalid('createWorkflows needs a store, for instance sqlite("app.db") from "everstep/sqlite".');
  }
  const { hooks = {}, runtime = {} } = options;
  if (typeof hooks !== "object" || hooks === null)
    throw invalid("hooks must be an object, such as { onEnded() {} }.");
  checkNames(hooks, hookNames, "hooks");
  checkFunctions(options, "", ["onNotice", "onProblem", "showSensitive"]);
  checkObservers(options.observers);
  checkFunctions(hooks, "hooks.", Object.keys(hookNames));
  checkFunctions(runtime, "runtime.", Object.keys(systemRuntime));
}

function checkObservers(observers: unknown): void {
  if (observers === undefined) return;
  if (!Array.isArray(observers))
    throw invalid("observers must be an array, such as [{ onRetry(retry) {} }].");
  for (const [at, observer] of observers.entries()) checkObserver(observer, `observers[${at}]`);
}

/** One of a class may have methods of its own: only those that are told of something are looked at. */
export function checkObserver(observer: Observer, what: string): Observer {
  if (typeof observer !== "object" || observer === null)
    throw invalid(`${what} must be an object with methods, such as { onRetry(retry) {} }.`);
  checkNames(observer, observerNames, what);
  checkFunctions(observer, `${what}.`, Object.keys(observerNames));
  return observer;
}

export function runnerOptions(settings: RunnerSettings | undefined) {
  const given = settings ?? {};
  if (typeof given !== "object") throw invalid("runner must be an object, such as { concurrency: 10 }.");
  checkNames(given, runnerNames, "runner");
  const ms = (name: "lease" | "poll" | "minPoll" | "maxPoll", otherwise: number, min: number): number => {
    const value = given[name];
    const what = `runner.${name}`;
    return value === undefined ? otherwise : checkDuration(parseDuration(value, what), { min }, what);
  };
  const pollMs = ms("poll", runnerDefaults.pollMs, pollMsLeast);
  const minPollMs = ms("minPoll", runnerDefaults.minPollMs, pollMsLeast);
  const untold = Math.max(runnerDefaults.maxPollMsUntold, pollMs, minPollMs);
  const options = {
    concurrency: whole(given.concurrency ?? runnerDefaults.concurrency, "runner.concurrency", 1),
    leaseMs: ms("lease", runnerDefaults.leaseMs, leaseMsLeast),
    pollMs,
    minPollMs,
    maxPollMs: ms("maxPoll", runnerDefaults.maxPollMs, pollMsLeast),
    maxPollMsUntold: ms("maxPoll", untold, pollMsLeast),
    maxResidents: whole(given.maxResidents ?? runnerDefaults.maxResidents, "runner.maxResidents", 0),
    maxMemoryBytes: whole(given.maxMemoryBytes ?? runnerDefaults.maxMemoryBytes, "runner.maxMemoryBytes", 1),
  };
  if (given.minPoll !== undefined && given.maxPoll !== undefined && options.minPollMs > options.maxPollMs) {
    throw invalid("runner.minPoll must not be longer than runner.maxPoll.");
  }
  return options;
}

/** Only a store that notices dead processes can say which runs one has left behind. */
export function checkInterrupted(value: unknown, store: Store): "retry" | "fail" {
  if (value === undefined || value === "retry") return "retry";
  if (value !== "fail") throw invalid(`ifInterrupted is ${String(value)}; use "retry" or "fail".`);
  if (store.ownership) return "fail";
  throw invalid(
    `ifInterrupted: "fail" of an app needs a store that notices processes that die, and "${store.name}" does not. ` +
      "Leave it out, or set it on the workflows or steps that must not run twice.",
  );
}

export function checkDispatcher(dispatcher: Dispatcher | undefined): Dispatcher | null {
  if (dispatcher === undefined || dispatcher === null) return null;
  if (typeof dispatcher.wake === "function") return dispatcher;
  throw invalid("dispatcher needs a wake function: { wake(hint) { ... } }.");
}

/** Functions that are told of something, or that decide: called long after, when a mistake would be nobody's. */
function checkFunctions(options: object, what: string, names: readonly string[]): void {
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined && typeof value !== "function") {
      throw invalid(
        `${what}${name} must be a function, not ${value === null ? "null" : `a ${typeof value}`}.`,
      );
    }
  }
}

const tickNames: NamesOf<TickOptions> = { maxInstances: true, maxSteps: true };

export function checkTick(options: TickOptions = {}): TickOptions {
  checkNames(options, tickNames, "tick");
  if (options.maxInstances !== undefined) whole(options.maxInstances, "maxInstances", 0);
  if (options.maxSteps !== undefined) whole(options.maxSteps, "maxSteps", 0);
  return options;
}

/** What one call may remove; more would be one long transaction. */
const pruneMax = 1_000_000;

export function pruneLimit(options: { readonly limit?: number }): number {
  checkNames(options, { limit: true }, "prune");
  return whole(options.limit ?? 1000, "limit of prune", 1, pruneMax);
}

function whole(value: unknown, what: string, least: number, most = Number.POSITIVE_INFINITY): number {
  const isWhole = Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  if (isWhole && (value as number) >= least && (value as number) <= most) return value as number;
  const range = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`;
  throw invalid(`${what} is ${String(value)}; it must be a whole number ${range}.`);
}

function invalid(message: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", message);
}
