import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { instanceTerminal } from "../engine/instance-words.ts";
import {
  planPause,
  planRestart,
  planResume,
  planTerminate,
  type UserReason,
  userReason,
} from "../engine/lifecycle.ts";
import { historyBefore } from "../engine/step-selection.ts";
import { EverstepError } from "../model/error.ts";
import { isTerminal } from "../model/instance.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { forkNames, fromNames, retryNames } from "../wire/option-names.ts";
import type { ForkOptions, FromStep, RetryOptions } from "../wire/options.ts";
import type { Creation } from "./await-end.ts";
import { forkInstance } from "./fork-instance.ts";
import { InstanceReading } from "./instance-reading.ts";
import { retryFailedStep } from "./retry-failed-step.ts";
import { sendEvent, skipSleep } from "./send-event.ts";
import { change, isRepeat, type SteeringOptions, steeringNames } from "./steering.ts";
import { StoredInstance } from "./stored-instance.ts";
import type { WithinOptions } from "./within-transaction.ts";

export interface RestartOptions extends FromStep, SteeringOptions {}

const restartNames: NamesOf<RestartOptions> = { ...steeringNames, ...fromNames };
const terminateNames: NamesOf<SteeringOptions & UserReason> = { ...steeringNames, reason: true };

/** One instance, by its id: read as `InstanceReading` says, and steered. */
export class InstanceHandle<Output = any> extends InstanceReading<Output> {
  readonly #instance: StoredInstance;

  constructor(instance: StoredInstance, creation: Creation | null = null) {
    super(instance, creation);
    this.#instance = instance;
  }

  /** Stops it after the step in flight. Timers keep counting, events are kept. */
  async pause(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "pause");
    const { ref, parts } = this.#instance;
    const outcome = await change(planPause(ref), options, parts);
    if (outcome.kind === "refused" && isTerminal(outcome.status)) {
      throw instanceTerminal(ref, outcome.status, "paused");
    }
    if (outcome.kind === "changed") parts.runner.paused(outcome.runId);
  }

  /** Continues a paused instance; has no effect on others. */
  async resume(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "resume");
    const { ref, definition, parts } = this.#instance;
    const outcome = await change(planResume(ref, definition.mode === "cloudflare"), options, parts);
    if (outcome.kind === "changed") parts.runner.resumed(outcome.runId);
  }

  /** Ends it for good. What a body in flight returns later is refused. */
  async terminate(options: SteeringOptions & UserReason = {}): Promise<void> {
    checkNames(options, terminateNames, "terminate");
    const { ref, parts } = this.#instance;
    const next = { kind: "terminate", reason: userReason(options) } as const;
    const plan = planTerminate(ref, next.reason);
    // Whoever waits for a later run must not hear of its end.
    if (await isRepeat(plan, options, parts)) return;
    const told = parts.announcer.hearsEnds ? await this.#instance.read() : null;
    const announce = told ? parts.announcer.ended(told, next) : undefined;
    // Who is told of the end of a run hears of the run that ended.
    const when = told ? { ...plan.when, runNumber: told.runNumber } : plan.when;
    const outcome = await change({ ...plan, when, ...(announce ? { announce } : {}) }, options, parts);
    if (outcome.kind === "refused") {
      if (!isTerminal(outcome.status)) return this.terminate(options);
      throw instanceTerminal(ref, outcome.status, "terminated");
    }
    parts.runner.recall(outcome.runId, "The instance was terminated.");
    parts.endings.ended(ref, next);
    if (announce) parts.runner.fallBehind();
  }

  /** Runs it again from the beginning, or from a step, as its next run. Allowed in every status. */
  async restart(options: RestartOptions = {}): Promise<void> {
    checkNames(options, restartNames, "restart");
    const { ref, parts } = this.#instance;
    if (await isRepeat(planRestart(ref, []), options, parts)) return;
    const before = await this.#instance.read();
    const history =
      options.from === undefined ? [] : historyBefore(await this.#instance.steps(before.runId), options.from);
    // Of the run whose history was read.
    const plan = planRestart(ref, history, { runNumber: before.runNumber });
    const announce = parts.announcer.restarted(before, before.status);
    const outcome = await change({ ...plan, ...(announce ? { announce } : {}) }, options, parts);
    if (outcome.kind === "refused") {
      if (options.from === undefined) return this.restart(options);
      throw new EverstepError(
        "INVALID_ARGUMENT",
        `Instance "${this.id}" was restarted by somebody else meanwhile (run ${outcome.runNumber}). Look again, then decide.`,
      );
    }
    // A repeat that came at the same time: the run that was read is the one that began.
    if (outcome.runNumber === before.runNumber) return;
    parts.runner.recall(before.runId, "The instance was restarted.");
    parts.runner.nudge();
  }

  /** A new instance that begins with what this one recorded before a step. */
  async fork(options: ForkOptions = {}): Promise<InstanceHandle<Output>> {
    checkNames(options, forkNames, "fork");
    const { definition, parts } = this.#instance;
    const ref = await forkInstance(this.#instance, options);
    return new InstanceHandle(new StoredInstance(ref, definition, parts));
  }

  /**
   * Gives the step that failed an errored instance one more attempt, within the same run. A run that the engine gave up
   * (CRASH_LOOP, ...) goes on where it was.
   */
  async retryFailedStep(options: SteeringOptions & RetryOptions = {}): Promise<void> {
    checkNames(options, { ...steeringNames, ...retryNames }, "retryFailedStep");
    await retryFailedStep(this.#instance, options);
  }

  /** Ends the sleep it is in now; has no effect when it is in none. */
  async skipSleep(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "skipSleep");
    await skipSleep(this.#instance, options);
  }

  /**
   * Sends an event to this instance. It waits until the workflow asks for its type. With `{ tx }`, a transaction of your
   * own on the store's database, it is sent when that commits.
   */
  async sendEvent(event: OutgoingEvent, within: WithinOptions = {}): Promise<void> {
    await sendEvent(this.#instance, event, within);
  }
}
