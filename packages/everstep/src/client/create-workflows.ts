import { limitsFrom, requireLegalWait } from "../authoring/check-limits.ts";
import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { Duration } from "../authoring/duration.ts";
import { parseDuration } from "../authoring/duration.ts";
import { checkTopic } from "../authoring/names.ts";
import { checkEventId } from "../engine/lifecycle.ts";
import { stepOptionsOf } from "../engine/step-options.ts";
import type { TurnScope } from "../engine/turn-host.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceStatus, instanceStatuses } from "../model/instance.ts";
import { defaultLimits, type Limits, runnerDefaults } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import { CommitGroup } from "../runner/commit-group.ts";
import { HintSender, type HintSenderParts } from "../runner/hint-sender.ts";
import type { Dispatcher } from "../runner/hints.ts";
import { NudgeWatch } from "../runner/nudge-watch.ts";
import { Runner, type StopReport, type TickOptions } from "../runner/runner.ts";
import { StopPatience } from "../runner/stop-patience.ts";
import { StoreClock } from "../runner/store-clock.ts";
import { appStopped, Patience } from "../runner/store-patience.ts";
import type { MigrateOptions, MigrationReport, Store } from "../store/store.ts";
import { systemRuntime } from "../system-runtime.ts";
import type { CheckReport } from "../verify/replay/check-report.ts";
import type { VerifyReport } from "../verify/verify-report.ts";
import type { ActivityView, ManifestFacts, RunnerView, TopicView, WaiterView } from "../wire/index.ts";
import type { ActivityOptions, PageOptions, PublishOptions } from "../wire/options.ts";
import { readActivity } from "./activity.ts";
import type { AppParts, ShowSensitive } from "./app-parts.ts";
import { type CheckOptions, checkCode } from "./check-code.ts";
import { EndWatch } from "./end-watch.ts";
import { Endings } from "./endings.ts";
import { Instant } from "./instant.ts";
import { Announcer, hooksWorkflow, hooksWorkflowName, type LifecycleHooks } from "./lifecycle-hooks.ts";
import { type DueOptions, type DueView, listDue } from "./list-due.ts";
import { type ListOptions, listInstances } from "./list-instances.ts";
import { listTopics } from "./list-topics.ts";
import { noticeListener, problemListener } from "./listeners.ts";
import { type PageView, pageQuery, pageView } from "./paging.ts";
import { patientReads } from "./patient-reads.ts";
import { listRunners } from "./runners.ts";
import {
  checkApp,
  checkInterrupted,
  checkTick,
  pruneLimit,
  type RunnerSettings,
  runnerOptions,
} from "./settings.ts";
import { type VerifyOptions, verifyApp } from "./verify-app.ts";
import { type InstanceView, waiterView } from "./views.ts";
import { WorkflowHandle } from "./workflow-handle.ts";

export interface AppOptions<Workflows extends Record<string, WorkflowDefinition>> {
  /** The workflows of this app, by the name code uses for them. */
  readonly workflows: Workflows;
  readonly store: Store;
  /** Time and randomness; the system's unless given. What is left out of it is taken from the system. */
  readonly runtime?: Partial<Runtime>;
  /** For all workflows of the app; a workflow's own limits win. */
  readonly limits?: Partial<Limits>;
  readonly runner?: RunnerSettings;
  /** What becomes of runs whose process died: go on (default), or errored "interrupted by restart". */
  readonly onInterrupted?: "resume" | "error";
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

type Handles<Workflows extends Record<string, WorkflowDefinition>> = {
  readonly [Key in keyof Workflows]: Workflows[Key] extends WorkflowDefinition<infer Params, infer Output>
    ? WorkflowHandle<Params, Output>
    : never;
};

export interface App<
  Workflows extends Record<string, WorkflowDefinition> = Record<string, WorkflowDefinition>,
> {
  readonly workflows: Handles<Workflows>;
  readonly store: Store;
  /** What is registered here: names, whether params and output are checked, limits. */
  manifest(): readonly WorkflowManifest[];
  /** Runs instances in this process until `stop`. */
  start(): Promise<void>;
  /** Graceful: no new work, bodies in flight may finish, everything is given back. Also closes the store. */
  stop(options?: StopOptions): Promise<StopReport>;
  /** One sweep, for hosts without a loop. */
  tick(options?: TickOptions): Promise<{ readonly processed: number }>;
  /**
   * Brings the store's schema up to date; `start` and first use do it too. With `{ plan: true }` it changes nothing: the
   * report's `statements` are what it would run.
   */
  migrate(options?: MigrateOptions): Promise<MigrationReport>;
  /** One event for every instance that waits on the topic now; says how many. */
  publish(topic: string, payload?: unknown, options?: PublishOptions): Promise<{ readonly waiters: number }>;
  waiters(topic: string, options?: PageOptions): Promise<PageView<WaiterView>>;
  /** Topics that instances wait on now, by name. */
  topics(options?: PageOptions): Promise<PageView<TopicView>>;
  /** What is due and no runner has taken, or will be due until some time: over all workflows, soonest first. */
  due(options?: DueOptions): Promise<readonly DueView[]>;
  /** Instances by status: of one workflow, or of all in the store. */
  counts(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>>;
  /** Instances of all workflows in the store, newest first. */
  list(options?: ListOptions): Promise<PageView<InstanceView>>;
  /** Who runs instances of this store, in whichever process; those seen last first. */
  runners(): Promise<readonly RunnerView[]>;
  /** How much runners got done over time, of one workflow or of all. Counted now and then, not exactly. */
  activity(options?: ActivityOptions): Promise<ActivityView>;
  /**
   * Removes instances whose retention has passed, at most `limit` of them; says how many. Also forgets publications that
   * are older than a week. Call it now and then; nothing is removed by itself.
   */
  prune(options?: { readonly limit?: number }): Promise<number>;
  /**
   * Replays the recorded histories of unfinished instances against code and says what becomes of each: against the app's
   * own workflows, or against others (`workflows`), for instance the next build. Nothing is written and no body runs;
   * code outside of steps does run.
   */
  check(options?: CheckOptions): Promise<CheckReport>;
  /**
   * Audits the store: judges what is recorded of each run by what the engine promises, and says what does not get on.
   * Reads only, beside live work, in bounded pages; at most `limit` instances a call.
   */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
}

export interface WorkflowManifest extends ManifestFacts {
  readonly limits: Limits;
}

/** An app: workflows on a store, with a runner that `start` sets going. `names`: what else whoever calls it reads. */
export function createWorkflows<const Workflows extends Record<string, WorkflowDefinition>>(
  options: AppOptions<Workflows>,
  names?: Readonly<Record<string, true>>,
): App<Workflows> {
  checkApp(options as AppOptions<never>, names);
  const { store } = options;
  const limits = limitsFrom(options.limits, defaultLimits, "limits", "INVALID_ARGUMENT");
  const runnerSettings = {
    ...runnerOptions(options.runner),
    onInterrupted: checkInterrupted(options.onInterrupted, store),
  };
  // A clock that the host brings along rules; otherwise the store's own does, where it has one.
  const host: Runtime = { ...systemRuntime, ...options.runtime };
  const isOwn = options.runtime?.now !== undefined && !options.runtime.followsStore;
  const clock = new StoreClock(host, isOwn ? {} : store);
  const { runtime } = clock;
  const hooks = options.hooks ?? {};
  const announcer = new Announcer(hooks, runtime);
  const definitions = registered(withHooks(options.workflows, hooks), limits, options.limits);
  const tell = problemListener(options.onProblem);
  const onProblem = (problem: unknown): void => {
    // A stop ends the wait for a store out of reach, and closes it under what did not answer in time: its own doing, and
    // nobody's problem.
    if (!stopped || !isEndOfWaiting(problem)) tell(problem);
  };
  const endings = new Endings();
  const patience = new Patience(runtime);
  const hints = hintSender(options.dispatcher, { store, runtime, patience, onProblem });
  const group = new CommitGroup(store, runtime, {
    patience,
    onBack: () => runner.storeIsBack(),
    ...(hints ? { onWritten: (...write) => hints.written(...write) } : {}),
  });
  const reads = patientReads(store, patience, runtime);
  const nudges = new NudgeWatch({ store, runtime, onProblem });
  const runner = new Runner({
    store,
    runtime,
    group,
    scope: runtime.createScope<TurnScope>(),
    definitions,
    ownWorkflow: hooksWorkflowName,
    options: runnerSettings,
    nudges,
    freshenClock: () => clock.freshen(),
    announce: (ref, next) => announcer.ended(ref, next),
    onEnded: (ref, next) => endings.ended(ref, next),
    onGivenBack: (refs) => hints?.givenBack(refs),
    onNotice: noticeListener(options.onNotice),
    onProblem,
  });
  let migrated: Promise<MigrationReport> | null = null;
  let isMigrated = false;
  let stopped = false;
  const migrate = (migrateOptions: MigrateOptions = {}): Promise<MigrationReport> => {
    if (migrateOptions.plan) return patience.patiently(() => store.migrate({ plan: true }), onProblem);
    migrated ??= patience
      .patiently(() => store.migrate(), onProblem)
      .then(
        (report) => {
          isMigrated = true;
          return report;
        },
        (error: unknown) => {
          migrated = null;
          throw error;
        },
      );
    return migrated;
  };
  const getReady = async (tx?: unknown): Promise<void> => {
    if (tx === undefined) await (migrated ?? migrate());
    else if (migrated === null) requireTables(await migrate({ plan: true }));
    // Asked again only while it is not known: somebody else's question may have been answered meanwhile.
    if (clock.freshen()) await patience.patiently(async () => clock.freshen(), onProblem);
    if (stopped) throw appStopped();
  };
  // Nothing to wait for is the usual case by far.
  const ready = (tx?: unknown): Promise<void> | undefined => {
    if (stopped) throw appStopped();
    return isMigrated && clock.freshen() === null ? undefined : getReady(tx);
  };
  const parts: AppParts = {
    store,
    reads,
    runtime,
    group,
    runner,
    endings,
    endWatch: new EndWatch({ store, runtime, nudges }),
    instant: new Instant(runtime),
    announcer,
    definitions,
    nudges,
    showSensitive: options.showSensitive ?? (() => false),
    onProblem,
    ready,
  };
  const workflows: Record<string, WorkflowHandle> = Object.create(null);
  for (const [key, definition] of Object.entries(options.workflows)) {
    workflows[key] = new WorkflowHandle(definitions.get(definition.name) ?? definition, parts);
  }
  let stopping: Promise<StopReport> | null = null;
  const stop = async (graceMs: number, until: PromiseLike<unknown> | undefined): Promise<StopReport> => {
    const time = new StopPatience(runtime);
    const report = await runner.stop(graceMs, time);
    await Promise.allSettled([until]);
    stopped = true;
    endings.stop();
    nudges.stop();
    await time.wait(group.settled());
    await hints?.stop(time.leftMs);
    patience.stop();
    // It waits for calls under way, and a server that has fallen silent answers none of them.
    const closing = store.close();
    if (await time.wait(closing)) await closing;
    return report;
  };
  const app: App<Workflows> = {
    workflows: workflows as Handles<Workflows>,
    store,
    migrate,
    manifest: () => manifestOf(options.workflows, definitions),
    async start() {
      await ready();
      for (const warning of await warningsOf(store)) onProblem(warning);
      await runner.start();
    },
    async stop(stopOptions = {}) {
      const graceMs = parseDuration(stopOptions.grace ?? runnerDefaults.stopGraceMs, "grace");
      if (stopped && stopping === null) return { finished: 0, released: 0 };
      // Asked again while it stops, the answer is that of the first.
      stopping ??= stop(graceMs, stopOptions.until).finally(() => {
        stopping = null;
      });
      return stopping;
    },
    async tick(tickOptions) {
      const checked = checkTick(tickOptions);
      await ready();
      return runner.tick(checked);
    },
    async publish(topic, payload, publishOptions = {}) {
      checkTopic(topic, limits);
      const encoded = encodeValue(payload, "payload");
      checkBytes(encoded, limits.eventBytesMax, "payload");
      const id = checkEventId(publishOptions.id ?? runtime.uuid());
      await ready();
      const outcome = await group.submit({
        kind: "publish",
        id,
        topic,
        payload: encoded,
        createdAt: runtime.now(),
      });
      for (const runId of outcome.runIds) runner.nudgeRun(runId);
      if (outcome.waiters > 0) runner.nudge();
      return { waiters: outcome.waiters };
    },
    async waiters(topic, page = {}) {
      checkTopic(topic, limits);
      await ready();
      const list = `waiters:${topic}`;
      return pageView(list, await reads.listWaiters(topic, pageQuery(list, page, limits)), waiterView);
    },
    topics: (page = {}) => listTopics(page, limits, parts),
    due: (dueOptions = {}) => listDue(dueOptions, parts),
    async counts(workflowName) {
      await ready();
      const counts = await reads.countByStatus(workflowName);
      if (workflowName !== undefined) return counts;
      const tellings = await reads.countByStatus(hooksWorkflowName);
      return mapCounts(counts, (status, count) => count - tellings[status]);
    },
    list: (listOptions = {}) => listInstances(undefined, listOptions, limits, parts),
    runners: () => listRunners(parts),
    activity: (activityOptions = {}) => readActivity(activityOptions, parts),
    async prune(pruneOptions = {}) {
      const limit = pruneLimit(pruneOptions.limit);
      await ready();
      const now = runtime.now();
      return store.prune({
        before: now,
        limit,
        publicationsBefore: now - publicationMemoryMs,
      });
    },
    async check(checkOptions = {}) {
      const { workflows: given } = checkOptions;
      return checkCode(checkOptions, parts, given ? registered(given, limits, options.limits) : definitions);
    },
    verify: (verifyOptions = {}) => verifyApp(verifyOptions, parts),
  };
  // Not for everybody who prints an app.
  return Object.defineProperty(app, partsKey, { value: parts });
}

/** By name and not by identity: whoever serves an app may have come with another copy of this package. */
const partsKey = Symbol.for("everstep.parts");

/** What an app is made of, for the rooms around it. */
export function partsOf(app: App): AppParts {
  const parts = (app as { readonly [partsKey]?: AppParts })[partsKey];
  if (parts) return parts;
  throw new EverstepError("INVALID_ARGUMENT", "This is no app of createWorkflows.");
}

function requireTables({ statements }: MigrationReport): void {
  if (statements.length === 0) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "The store's tables are not there yet, or not up to date, and are made neither by a check nor inside a transaction " +
      "of yours. Call app.migrate() or app.start() before.",
  );
}

function manifestOf(
  workflows: Record<string, WorkflowDefinition>,
  definitions: ReadonlyMap<string, WorkflowDefinition>,
): readonly WorkflowManifest[] {
  return Object.entries(workflows).map(([key, { name, options, limits }]) => ({
    key,
    name,
    checksParams: options.params !== undefined,
    checksOutput: options.output !== undefined,
    concurrency: options.concurrency ?? null,
    limits: definitions.get(name)?.limits ?? limits,
  }));
}

type Counts = Readonly<Record<InstanceStatus, number>>;

function mapCounts(counts: Counts, change: (status: InstanceStatus, count: number) => number): Counts {
  const entries = instanceStatuses.map((status) => [status, change(status, counts[status])] as const);
  return Object.fromEntries(entries) as Record<InstanceStatus, number>;
}

/** What the store's settings cannot keep, one problem each. Not to know is one too, but keeps nobody from starting. */
async function warningsOf(store: Store): Promise<readonly unknown[]> {
  try {
    const warnings = (await store.warnings?.()) ?? [];
    return warnings.map(
      ({ code, message }) => new EverstepError("STORE_UNSAFE", message, { details: { warning: code } }),
    );
  } catch (problem) {
    return [problem];
  }
}

/** How long a publication's id is remembered, so that publishing it again has no effect. */
const publicationMemoryMs = 7 * 24 * 60 * 60 * 1000;

function withHooks(
  workflows: Record<string, WorkflowDefinition>,
  hooks: LifecycleHooks,
): Record<string, WorkflowDefinition> {
  const wanted = hooks.onEnded !== undefined || hooks.onRestarted !== undefined;
  return wanted ? { ...workflows, [hooksWorkflowName]: hooksWorkflow(hooks) } : workflows;
}

function registered(
  workflows: Record<string, WorkflowDefinition>,
  limits: Limits,
  appLimits: Partial<Limits> | undefined,
): Map<string, WorkflowDefinition> {
  if (typeof workflows !== "object" || workflows === null) {
    throw new EverstepError("INVALID_ARGUMENT", "createWorkflows needs workflows: { ORDER: order }.");
  }
  const definitions = new Map<string, WorkflowDefinition>();
  for (const [key, definition] of Object.entries(workflows)) {
    if (typeof definition?.run !== "function") {
      throw new EverstepError(
        "INVALID_WORKFLOW_DEFINITION",
        `workflows.${key} is not a workflow. Make it with defineWorkflow.`,
      );
    }
    if (definitions.has(definition.name)) {
      throw new EverstepError(
        "DUPLICATE_WORKFLOW_NAME",
        `Two workflows are named "${definition.name}". Names scope instance ids; give each its own.`,
      );
    }
    // A mistake in its defaults is told here, not when its first instance runs.
    stepOptionsOf(definition);
    const what = `limits of workflow "${definition.name}"`;
    const own = limitsFrom(definition.options.limits, limits, what, "INVALID_ARGUMENT");
    requireLegalWait(appLimits ? own : definition.limits, what, "INVALID_ARGUMENT");
    definitions.set(definition.name, appLimits ? { ...definition, limits: own } : definition);
  }
  return definitions;
}

function hintSender(
  dispatcher: Dispatcher | undefined,
  parts: Omit<HintSenderParts, "dispatcher">,
): HintSender | null {
  if (dispatcher === undefined || dispatcher === null) return null;
  if (typeof dispatcher.wake === "function") return new HintSender({ ...parts, dispatcher });
  throw new EverstepError("INVALID_ARGUMENT", "dispatcher needs a wake function: { wake(hint) { ... } }.");
}

function isEndOfWaiting(problem: unknown): boolean {
  return problem instanceof EverstepError && ["STORE_CLOSED", "APP_STOPPED"].includes(problem.code);
}
