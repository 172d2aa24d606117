import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type {
  InstanceHandle,
  RestartOptions,
  SteeringOptions,
  TerminateOptions,
  WithinOptions,
} from "../handles/index.ts";
import { checkNames } from "../model/known-names.ts";
import { deleteNames, forkNames, retryNames } from "../wire/option-names.ts";
import type { DeleteOptions, ForkOptions, RetryOptions } from "../wire/options.ts";
import type { Creation } from "./await-end.ts";
import { deleteInstance } from "./delete-instance.ts";
import { restartInstance, restartNames, terminateInstance, terminateNames } from "./end-instance.ts";
import { forkInstance } from "./fork-instance.ts";
import { InstanceReading } from "./instance-reading.ts";
import { pauseInstance, resumeInstance } from "./pause-instance.ts";
import { retryFailedStep } from "./retry-failed-step.ts";
import { sendEvent, skipSleep } from "./send-event.ts";
import { steeringNames } from "./steering.ts";
import { StoredInstance } from "./stored-instance.ts";

/** The handle of an instance in this process: read as `InstanceReading` says, and steered. */
export class LocalInstanceHandle<Output = any, Events = any>
  extends InstanceReading<Output>
  implements InstanceHandle<Output, Events>
{
  readonly #instance: StoredInstance;

  constructor(instance: StoredInstance, creation: Creation | null = null) {
    super(instance, creation);
    this.#instance = instance;
  }

  async pause(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "pause");
    await pauseInstance(this.#instance, options);
  }

  async resume(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "resume");
    await resumeInstance(this.#instance, options);
  }

  async terminate(options: TerminateOptions = {}): Promise<void> {
    checkNames(options, terminateNames, "terminate");
    await terminateInstance(this.#instance, options);
  }

  async delete(options: DeleteOptions<Date> = {}): Promise<void> {
    checkNames(options, deleteNames, "delete");
    await deleteInstance(this.#instance, options);
  }

  async restart(options: RestartOptions = {}): Promise<void> {
    checkNames(options, restartNames, "restart");
    await restartInstance(this.#instance, options);
  }

  async fork(options: ForkOptions = {}): Promise<InstanceHandle<Output, Events>> {
    checkNames(options, forkNames, "fork");
    const { definition, parts } = this.#instance;
    const ref = await forkInstance(this.#instance, options);
    return new LocalInstanceHandle(new StoredInstance(ref, definition, parts));
  }

  async retryFailedStep(options: SteeringOptions & RetryOptions = {}): Promise<void> {
    checkNames(options, { ...steeringNames, ...retryNames }, "retryFailedStep");
    await retryFailedStep(this.#instance, options);
  }

  async rewind(step: NonNullable<RestartOptions["from"]>, options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "rewind");
    await this.restart({ ...options, from: step });
  }

  async skipSleep(options: SteeringOptions = {}): Promise<void> {
    checkNames(options, steeringNames, "skipSleep");
    await skipSleep(this.#instance, options);
  }

  async sendEvent(event: OutgoingEvent<Events>, within: WithinOptions = {}): Promise<void> {
    await sendEvent(this.#instance, event, within);
  }
}
