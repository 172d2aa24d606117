import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { parseDuration } from "../authoring/duration.ts";
import { checkInstanceId } from "../authoring/names.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { instanceNotFound, instanceTerminal } from "../engine/instance-words.ts";
import {
  type ChangePlan,
  planChange,
  planCreate,
  planPause,
  planRestart,
  planResume,
  planSendEvent,
  planSkipSleep,
  planTerminate,
  type UserReason,
  userReason,
} from "../engine/lifecycle.ts";
import { operatorLines } from "../engine/operator-line.ts";
import { planRetryFailedStep } from "../engine/retry-failed-step.ts";
import { activeSleep, historyBefore } from "../engine/step-selection.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceRecord, type InstanceRef, isTerminal, type RunId } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import type { ChangeOutcome, ValueTerms } from "../store/store.ts";
import { type ExportHistoryOptions, exportHistory } from "../verify/replay/export-history.ts";
import type { HistoryDocument } from "../verify/replay/history-document.ts";
import type { HistoryView, LogLineView, RunningBodyView, StepView } from "../wire/index.ts";
import type { ForkOptions, FromStep, ResultOptions, RetryOptions, RunOptions } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";
import { awaitEnd } from "./await-end.ts";
import { lastAction } from "./last-action.ts";
import { isOwnCreation } from "./own-creation.ts";
import { type PageView, readAll } from "./paging.ts";
import { type HistoryOptions, historyPage, type LogsOptions, logsPage, logsQuery } from "./run-pages.ts";
import type { SteeringOptions } from "./steering-options.ts";
import {
  currentStep,
  type InstanceStatusView,
  type InstanceView,
  instanceDetails,
  instanceView,
  type MayShow,
  runningBodies,
  statusView,
  stepView,
  withoutResultIf,
  withoutValues,
} from "./views.ts";
import { explain, type WhyView } from "./why.ts";
import { whyWarnings } from "./why-warnings.ts";
import { transactionOf, type WithinOptions, writeWithin } from "./within-transaction.ts";

export type InstanceResult<Output = any> = InstanceStatusView<Output> & {
  /** The time was up before the instance ended; `status` is what it was then. */
  readonly timedOut: boolean;
};

export interface RestartOptions extends FromStep, SteeringOptions {}

/** What is known of an instance because it was created here. */
export interface Creation {
  readonly runId: RunId;
  /** When that was heard. */
  readonly instant: object;
}

/** One instance, by its id. Every method asks or changes the store; the handle knows at most that it was just created. */
export class InstanceHandle<Output = any> {
  readonly id: string;
  readonly #ref: InstanceRef;
  readonly #parts: AppParts;
  readonly #definition: WorkflowDefinition;
  readonly #creation: Creation | null;

  constructor(
    ref: InstanceRef,
    definition: WorkflowDefinition,
    parts: AppParts,
    creation: Creation | null = null,
  ) {
    this.id = ref.instanceId;
    this.#ref = ref;
    this.#definition = definition;
    this.#parts = parts;
    this.#creation = creation;
  }

  // ---------------------------------------------------------------------------------------------- looking

  async status(): Promise<InstanceStatusView<Output>> {
    return statusView(await this.#read());
  }

  /** Everything about the instance, its current step included. */
  async details(): Promise<InstanceView<Output> & { readonly currentStep?: StepView }> {
    const { steps: _, running: __, ...details } = await this.snapshot({ brief: true });
    return details;
  }

  /** Everything about the instance, with all steps of its current run; in brief without what they returned. */
  async snapshot({ brief = false }: { readonly brief?: boolean } = {}): Promise<
    InstanceView<Output> & {
      readonly currentStep?: StepView;
      readonly steps: readonly StepView[];
      readonly running: readonly RunningBodyView[];
    }
  > {
    const record = await this.#read();
    const steps = await this.#steps(record.runId, { brief });
    const begun = this.#parts.runner.begunOf(record.runId) ?? record.begun;
    const current = currentStep({ ...record, begun }, steps, this.#mayShow);
    const isCut = brief && current?.result !== undefined;
    const step = isCut ? ((await this.#step(record.runId, current.index)) ?? current) : current;
    return {
      ...instanceDetails(record, this.#parts.runtime.now()),
      ...(step ? { currentStep: step } : {}),
      steps: steps.map((each) => withoutResultIf(brief, stepView(each, this.#mayShow))),
      running: record.executing ? runningBodies(begun, steps) : [],
    };
  }

  /** Waits for the instance to end. */
  async result(options: ResultOptions = {}): Promise<InstanceResult<Output>> {
    const timeoutMs =
      options.timeout === undefined ? null : parseDuration(options.timeout, "timeout of result");
    await this.#parts.ready();
    return awaitEnd(this.#ref, timeoutMs, () => this.#read(), this.#parts, this.#creation);
  }

  /** One step of a run, by its index. */
  async step(index: number, { runNumber }: RunOptions = {}): Promise<StepView> {
    const record = await this.#read(runNumber);
    const found = await this.#step(record.runId, index);
    if (found) return found;
    throw new EverstepError(
      "STEP_NOT_FOUND",
      `Run ${record.runNumber} has recorded no step with the index ${index}.`,
    );
  }

  /**
   * Steps and events of a run, the current one unless another is named. Pages of values that are large end early and go on
   * behind their cursors (`limits.pageBytesMax`).
   */
  async history(options: HistoryOptions = {}): Promise<HistoryView> {
    const record = await this.#read(options.runNumber);
    return historyPage(record, options, this.#definition.limits, this.#parts, this.#mayShow);
  }

  async logs(options: LogsOptions = {}): Promise<PageView<LogLineView>> {
    const query = logsQuery(options, this.#definition.limits);
    const record = await this.#read(query.runNumber);
    return logsPage(record, query, this.#definition.limits, this.#parts);
  }

  /** Why it is not moving, in one sentence. */
  async why(): Promise<WhyView> {
    const record = await this.#read();
    const { runtime, runner, reads } = this.#parts;
    const steps = await this.#steps(record.runId, { brief: true });
    const begun = runner.begunOf(record.runId) ?? record.begun;
    const terms = {
      now: runtime.now(),
      definition: this.#definition,
      runnerRuns: runner.isRunning,
      leaseMs: runner.leaseMs,
      isHere: runner.hasTurn(record.runId),
      lastAction: await lastAction(reads, record.runId),
    };
    const why = explain({ ...record, begun }, steps, terms);
    const warnings = await whyWarnings(reads, record.runId, why);
    return warnings.length === 0 ? why : { ...why, warnings };
  }

  /** A run as one document that `replayHistory` can replay elsewhere, without the store; plain JSON. */
  async exportHistory(options: ExportHistoryOptions = {}): Promise<HistoryDocument> {
    const { reads, runtime } = this.#parts;
    const { runNumber } = await this.#read(options.runNumber);
    const mayShow = this.#mayShow;
    return exportHistory({ reads, now: runtime.now(), mayShow, look: () => this.#read(runNumber) }, options);
  }

  /** All runs of this instance, newest first. In brief without params and outputs, which may be large. */
  async runs({
    brief = false,
  }: {
    readonly brief?: boolean | undefined;
  } = {}): Promise<readonly InstanceView[]> {
    await this.#read();
    const { pageSizeMax } = this.#definition.limits;
    const runs = await this.#parts.reads.listRuns(this.#ref, pageSizeMax, { brief });
    const views = runs.map((run) => instanceView(run, this.#parts.runtime.now()));
    return brief ? views.map(withoutValues) : views;
  }

  // ---------------------------------------------------------------------------------------------- steering

  /** Stops it after the step in flight. Timers keep counting, events are kept. */
  async pause(options: SteeringOptions = {}): Promise<void> {
    const plan = planPause(this.#ref);
    if (await this.#isRepeat(plan, options)) return;
    const outcome = await this.#change(plan, options);
    if (outcome.kind === "refused" && isTerminal(outcome.status)) {
      throw instanceTerminal(this.#ref, outcome.status, "paused");
    }
    if (outcome.kind === "changed") this.#parts.runner.paused(outcome.runId);
  }

  /** Continues a paused instance; has no effect on others. */
  async resume(options: SteeringOptions = {}): Promise<void> {
    const plan = planResume(this.#ref, this.#definition.mode === "cloudflare");
    if (await this.#isRepeat(plan, options)) return;
    const outcome = await this.#change(plan, options);
    if (outcome.kind === "changed") this.#parts.runner.nudge();
  }

  /** Ends it for good. What a body in flight returns later is refused. */
  async terminate(options: SteeringOptions & UserReason = {}): Promise<void> {
    const next = { kind: "terminate", reason: userReason(options) } as const;
    const plan = planTerminate(this.#ref, next.reason);
    if (await this.#isRepeat(plan, options)) return;
    const { announcer } = this.#parts;
    const told = announcer.hearsEnds ? await this.#read() : null;
    const announce = told ? announcer.ended(told, next) : undefined;
    // Who is told of the end of a run hears of the run that ended.
    const when = told ? { ...plan.when, runNumber: told.runNumber } : plan.when;
    const outcome = await this.#change({ ...plan, when, ...(announce ? { announce } : {}) }, options);
    if (outcome.kind === "refused") {
      if (!isTerminal(outcome.status)) return this.terminate(options);
      throw instanceTerminal(this.#ref, outcome.status, "terminated");
    }
    this.#parts.runner.recall(outcome.runId, "The instance was terminated.");
    this.#parts.endings.ended(this.#ref, next);
    if (announce) this.#parts.runner.fallBehind();
  }

  /** Runs it again from the beginning, or from a step, as its next run. Allowed in every status. */
  async restart(options: RestartOptions = {}): Promise<void> {
    if (await this.#isRepeat(planRestart(this.#ref, []), options)) return;
    const before = await this.#read();
    const history =
      options.from === undefined ? [] : historyBefore(await this.#steps(before.runId), options.from);
    // Of the run whose history was read.
    const request = planRestart(this.#ref, history, { runNumber: before.runNumber });
    const announce = this.#parts.announcer.restarted(before, before.status);
    const outcome = await this.#change({ ...request, ...(announce ? { announce } : {}) }, options);
    if (outcome.kind === "refused") {
      if (options.from === undefined) return this.restart(options);
      throw new EverstepError(
        "INVALID_ARGUMENT",
        `Instance "${this.id}" was restarted by somebody else meanwhile (run ${outcome.runNumber}). Look again, then decide.`,
      );
    }
    // A repeat that came at the same time: the run that was read is the one that began.
    if (outcome.runNumber === before.runNumber) return;
    this.#parts.runner.recall(before.runId, "The instance was restarted.");
    this.#parts.runner.nudge();
  }

  /** A new instance that begins with what this one recorded before a step. */
  async fork(options: ForkOptions = {}): Promise<InstanceHandle<Output>> {
    const { limits, ttlMs } = this.#definition;
    const instanceId =
      options.newId === undefined ? this.#parts.runtime.uuid() : checkInstanceId(options.newId, limits);
    const source = await this.#read();
    const steps = await this.#steps(source.runId);
    const history = options.from === undefined ? [] : historyBefore(steps, options.from);
    const ref = { workflowName: this.#ref.workflowName, instanceId };
    const plan = { params: source.params, retentionMs: source.retentionMs ?? ttlMs, history };
    const request = planCreate(ref, plan, this.#parts.runtime.now());
    let uncertain = false;
    const onUncertain = (): void => {
      uncertain = true;
    };
    const outcome = await this.#parts.group.submit(request, { onUncertain });
    const found = uncertain && outcome.kind === "exists" ? await this.#parts.reads.getInstance(ref, 1) : null;
    const isOwn = found ? isOwnCreation(found, request) : false;
    if (outcome.kind === "exists" && !isOwn) throw alreadyExists(ref, "Use another id, or restart that one.");
    this.#parts.runner.fallBehind();
    return new InstanceHandle(ref, this.#definition, this.#parts);
  }

  /**
   * Gives the step that failed an errored instance one more attempt, within the same run. A run that the engine gave up
   * (CRASH_LOOP, ...) goes on where it was.
   */
  async retryFailedStep(options: SteeringOptions & RetryOptions = {}): Promise<void> {
    const delayMs = options.delay === undefined ? 0 : parseDuration(options.delay, "delay");
    if (delayMs > 30 * 24 * 60 * 60 * 1000) {
      throw new EverstepError("INVALID_DURATION", "delay must be at most 30 days.");
    }
    const retry = { kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: 0 } as const;
    if (await this.#isRepeat(planChange(this.#ref, [], retry), options)) return;
    await this.#retryFailedStep(delayMs, options);
  }

  async #retryFailedStep(delayMs: number, options: SteeringOptions): Promise<void> {
    const { runNumber, token, runId, status, error } = await this.#read();
    if (status !== "errored") throw this.#notErrored({ status });
    const steps = await this.#steps(runId);
    // Read while somebody else was at it, they may fit nothing.
    if ((await this.#read()).token !== token) return this.#retryFailedStep(delayMs, options);
    const now = this.#parts.runtime.now();
    const plan = planRetryFailedStep(this.#ref, steps, error, delayMs, now);
    // Made for the steps that were read: if it was retried or restarted meanwhile, and failed again, they are others.
    const outcome = await this.#change({ ...plan, when: { ...plan.when, runNumber, token } }, options);
    if (outcome.kind === "refused") return this.#retryFailedStep(delayMs, options);
    this.#parts.runner.dueAt(now + delayMs);
  }

  /** Ends the sleep it is in now; has no effect when it is in none. */
  async skipSleep({ idempotencyKey, actor }: SteeringOptions = {}): Promise<void> {
    const record = await this.#read();
    if (isTerminal(record.status)) return;
    const sleep = activeSleep(await this.#steps(record.runId, { brief: true }));
    if (!sleep) return;
    const { runtime, group } = this.#parts;
    // Ids of events are unique over all instances, keys of callers need not be.
    const { workflowName, instanceId } = this.#ref;
    const id =
      idempotencyKey === undefined
        ? runtime.uuid()
        : `skip-sleep:${workflowName}/${instanceId}:${checkIdempotencyKey(idempotencyKey)}`;
    const logs = operatorLines("skipSleep", actor, runtime.now());
    const plan = planSkipSleep(this.#ref, sleep, id, runtime.now());
    this.#told(await group.submit({ ...plan, ...(logs.length > 0 ? { logs } : {}) }));
  }

  /**
   * Sends an event to this instance. It waits until the workflow asks for its type. With `{ tx }`, a transaction of your
   * own on the store's database, it is sent when that commits.
   */
  async sendEvent(event: OutgoingEvent, within: WithinOptions = {}): Promise<void> {
    const { runtime, group } = this.#parts;
    const { limits } = this.#definition;
    const tx = transactionOf(within);
    if (typeof event !== "object" || event === null) {
      throw new EverstepError(
        "INVALID_EVENT_TYPE",
        'sendEvent takes { type, payload? }, for instance { type: "approved" }.',
      );
    }
    const planned = planSendEvent(this.#ref, event, limits, event.id ?? runtime.uuid(), runtime.now());
    await this.#parts.ready(tx);
    // Only now is it known what time it is.
    const request = { ...planned, createdAt: runtime.now() };
    // After a lost answer a duplicate may be this very event, which the run of then has got.
    let uncertain = false;
    const onUncertain = (): void => {
      uncertain = true;
    };
    const [outcome] =
      tx === undefined
        ? [await group.submit(request, { onUncertain })]
        : await writeWithin(tx, [request], this.#parts);
    if (outcome === undefined) throw new EverstepError("STORE_FAILED", "The store gave no outcome.");
    switch (outcome.kind) {
      case "accepted":
        if (outcome.duplicate && !uncertain) await this.#refuseOfEarlierRun(request.id, outcome.runId);
        if (tx === undefined) this.#told(outcome);
        return;
      case "not-found":
        throw instanceNotFound(this.#ref);
      case "terminal":
        throw new EverstepError(
          "INSTANCE_TERMINAL",
          `Instance "${this.id}" is ${outcome.status} and takes no more events. Restart it first, or create another.`,
        );
      case "buffer-full":
        throw new EverstepError(
          "EVENT_BUFFER_FULL",
          `Instance "${this.id}" already holds ${request.bufferMax} events it has not taken, which is the most for an event ` +
            "of this size. Send fewer or smaller ones, or raise limits.bufferedEventsMax and limits.bufferedBytesMax.",
        );
    }
  }

  /** An id is used up for good: who sends the same approval to the next run must hear that it was not sent. */
  async #refuseOfEarlierRun(id: string, runId: RunId): Promise<void> {
    if ((await this.#read()).runId === runId) return;
    throw new EverstepError(
      "EVENT_ID_CONFLICT",
      `Event id "${id}" was used for an earlier run of instance "${this.id}", before it was restarted. ` +
        "Nothing was sent; send it to this run under another id.",
      { details: { eventId: id } },
    );
  }

  #told(outcome: { readonly kind: string; readonly runId?: RunId; readonly woke?: boolean }): void {
    if (outcome.kind !== "accepted" || outcome.runId === undefined) return;
    if (outcome.woke) this.#parts.runner.nudge();
    else this.#parts.runner.nudgeRun(outcome.runId);
  }

  #notErrored(found: { readonly status: string }): EverstepError {
    return new EverstepError(
      "INSTANCE_NOT_ERRORED",
      `Instance "${this.id}" is ${found.status}; only the failed step of an errored instance can be retried.`,
    );
  }

  async #change(
    plan: ChangePlan,
    { idempotencyKey, actor }: SteeringOptions,
  ): Promise<Exclude<ChangeOutcome, { kind: "not-found" }>> {
    await this.#parts.ready();
    const id =
      idempotencyKey === undefined
        ? this.#parts.runtime.uuid()
        : changeIdOf(plan.change.kind, idempotencyKey);
    const logs = operatorLines(plan.change.kind, actor, this.#parts.runtime.now());
    const outcome = await this.#parts.group.submit({ ...plan, id, ...(logs.length > 0 ? { logs } : {}) });
    if (outcome.kind === "not-found") throw instanceNotFound(this.#ref);
    return outcome;
  }

  /** This was done before under the same key. Asked with a condition that nothing fits, so that it is not done now. */
  async #isRepeat(plan: ChangePlan, repeat: SteeringOptions): Promise<boolean> {
    if (repeat.idempotencyKey === undefined) return false;
    const outcome = await this.#change({ ...plan, when: { statuses: [] } }, repeat);
    return outcome.kind === "changed";
  }

  async #read(runNumber?: number): Promise<InstanceRecord> {
    await this.#parts.ready();
    const isPossible = runNumber === undefined || Number.isSafeInteger(runNumber);
    const record = isPossible ? await this.#parts.reads.getInstance(this.#ref, runNumber) : undefined;
    if (record) return record;
    if (runNumber === undefined) throw instanceNotFound(this.#ref);
    await this.#read();
    throw new EverstepError("RUN_NOT_FOUND", `Instance "${this.id}" has no run number ${String(runNumber)}.`);
  }

  /** A hook that fails allows nothing. */
  readonly #mayShow: MayShow = ({ key: stepKey }) => {
    try {
      return this.#parts.showSensitive({ ...this.#ref, stepKey }) === true;
    } catch (problem) {
      this.#parts.onProblem(problem);
      return false;
    }
  };

  async #step(runId: RunId, index: number): Promise<StepView | undefined> {
    const query = { limit: 1, after: String(index - 1) };
    const [found] = (await this.#parts.reads.listSteps(runId, query)).items;
    return found?.index === index ? stepView(found, this.#mayShow) : undefined;
  }

  #steps(runId: RunId, terms: ValueTerms = {}): Promise<StepRecord[]> {
    return readAll((query) => this.#parts.reads.listSteps(runId, { ...query, ...terms }), 500);
  }
}

/** With what is done: a key that was used for something else means nothing here. */
export function changeIdOf(kind: ChangePlan["change"]["kind"], idempotencyKey: string): string {
  return `${kind}:${checkIdempotencyKey(idempotencyKey)}`;
}

function checkIdempotencyKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "An idempotencyKey is 1 to 200 visible ASCII characters, for instance a UUID.",
  );
}

export function alreadyExists(ref: InstanceRef, advice: string): EverstepError {
  return new EverstepError(
    "INSTANCE_ID_ALREADY_EXISTS",
    `Workflow "${ref.workflowName}" already has an instance "${ref.instanceId}"; it was left as it is. ${advice}`,
    { details: { workflowName: ref.workflowName, instanceId: ref.instanceId } },
  );
}
