import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { checkNames } from "../model/known-names.ts";
import { deleteNames, forkNames, retryNames } from "../wire/option-names.ts";
import type { DeleteOptions, ForkOptions, RetryOptions } from "../wire/options.ts";
import type { Creation } from "./await-end.ts";
import { deleteInstance } from "./delete-instance.ts";
import {
  type RestartOptions,
  restartInstance,
  restartNames,
  type TerminateOptions,
  terminateInstance,
  terminateNames,
} from "./end-instance.ts";
import { forkInstance } from "./fork-instance.ts";
import { InstanceReading } from "./instance-reading.ts";
import { pauseInstance, resumeInstance } from "./pause-instance.ts";
import { retryFailedStep } from "./retry-failed-step.ts";
import { sendEvent, skipSleep } from "./send-event.ts";
import { type SteeringOptions, steeringNames } from "./steering.ts";
import { StoredInstance } from "./stored-instance.ts";
import type { WithinOptions } from "./within-transaction.ts";

/** One instance, by its id: read as `InstanceReading` says, and steered. */
export class InstanceHandle<Output = any, Events = any> extends InstanceReading<Output> {
  readonly #instance: StoredInstance;

  constructor(instance: StoredInstance, creation: Creation | null = null) {
    super(instance, creation);
    this.#instance = instance;
  }

  /** Stops it after the step in flight. Timers keep counting, events are kept. */
  async pause(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "pause");
    await pauseInstance(this.#instance, options);
  }

  /** Continues a paused instance; has no effect on others. */
  async resume(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "resume");
    await resumeInstance(this.#instance, options);
  }

  /** Ends it for good. What a body in flight returns later is refused. */
  async terminate(options: TerminateOptions = {}): Promise<void> {
    checkNames(options, terminateNames, "terminate");
    await terminateInstance(this.#instance, options);
  }

  /**
   * Removes it with everything recorded of it: all runs, steps, events and log lines. One that has not ended is refused
   * (INSTANCE_NOT_TERMINAL) unless `force` is given. Its id may be created again at once.
   */
  async delete(options: DeleteOptions<Date> = {}): Promise<void> {
    checkNames(options, deleteNames, "delete");
    await deleteInstance(this.#instance, options);
  }

  /** Runs it again from the beginning, or from a step, as its next run. Allowed in every status. */
  async restart(options: RestartOptions = {}): Promise<void> {
    checkNames(options, restartNames, "restart");
    await restartInstance(this.#instance, options);
  }

  /** A new instance that begins with what this one recorded before a step. */
  async fork(options: ForkOptions = {}): Promise<InstanceHandle<Output, Events>> {
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

  /** Runs it again from a step: `restart({ from: step })`. */
  async rewind(step: NonNullable<RestartOptions["from"]>, options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "rewind");
    await this.restart({ ...options, from: step });
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
  async sendEvent(event: OutgoingEvent<Events>, within: WithinOptions = {}): Promise<void> {
    await sendEvent(this.#instance, event, within);
  }
}
