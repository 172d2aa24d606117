import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import { checkEventType, checkLogCategory, checkStepName, checkTopic } from "../authoring/names.ts";
import type {
  LogOptions,
  ReceivedEvent,
  StepCallback,
  WaitOptions,
  WorkflowLogger,
  WorkflowStep,
} from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { type LogLevel, systemCategory } from "../model/log-line.ts";
import type { CallSpec } from "./call.ts";
import type { StepOptionsResolver } from "./step-options.ts";

/** What the author's `step` object hands its checked calls to. */
export interface StepApiHost {
  readonly definition: WorkflowDefinition;
  readonly options: StepOptionsResolver;
  now(): number;
  call(spec: CallSpec): Promise<unknown>;
  log(level: LogLevel, message: string, data: unknown, category: string): void;
}

/** The `step` argument of `run`: checks what the author passed, then asks the turn. Mistakes reject the call's promise. */
export function createStepApi(host: StepApiHost): WorkflowStep {
  const { limits } = host.definition;
  const cloudflare = host.definition.mode === "cloudflare";

  function doStep(name: unknown, second: unknown, third?: unknown, fourth?: unknown): Promise<unknown> {
    const checkedName = checkStepName(name, limits);
    const callback = typeof second === "function" ? second : third;
    if (typeof callback !== "function") {
      throw new EverstepError(
        "INVALID_STEP_CONFIG",
        `Step "${checkedName}" has no function to run. Pass one: step.do("${checkedName}", async () => { ... }).`,
      );
    }
    const extra = typeof second === "function" ? third : fourth;
    if (extra !== undefined) {
      throw new EverstepError(
        "INVALID_STEP_CONFIG",
        `Step "${checkedName}" has an argument after its function. Rollback handlers are not supported: ` +
          "undo in a catch block with a step of its own.",
      );
    }
    return host.call({
      type: "do",
      name: checkedName,
      callback: callback as StepCallback<unknown>,
      options: host.options.resolve(typeof second === "function" ? undefined : second, checkedName),
      wakeAt: null,
      durationMs: null,
      eventType: null,
      topic: null,
      onConsume: null,
    });
  }

  async function sleep(name: string, duration: Duration): Promise<void> {
    const checkedName = checkStepName(name, limits);
    const what = `duration of sleep "${checkedName}"`;
    const ms = parseDuration(duration, what);
    checkDuration(ms, { min: 0, max: limits.sleepMsMax }, what);
    await host.call({
      ...emptySpec,
      type: "sleep",
      name: checkedName,
      wakeAt: host.now() + ms,
      durationMs: ms,
    });
  }

  async function sleepUntil(name: string, timestamp: Date | number): Promise<void> {
    const checkedName = checkStepName(name, limits);
    const at = timestamp instanceof Date ? timestamp.getTime() : timestamp;
    if (typeof at !== "number" || !Number.isFinite(at)) {
      throw new EverstepError(
        "INVALID_DURATION",
        `The time of sleepUntil "${checkedName}" is not valid. Pass a Date or epoch milliseconds.`,
      );
    }
    const what = `sleepUntil "${checkedName}"`;
    checkDuration(Math.max(0, at - host.now()), { min: 0, max: limits.sleepMsMax }, what);
    await host.call({ ...emptySpec, type: "sleep", name: checkedName, wakeAt: Math.ceil(at) });
  }

  async function waitForEvent(name: string, options: WaitOptions): Promise<ReceivedEvent> {
    const checkedName = checkStepName(name, limits);
    if (typeof options !== "object" || options === null) {
      throw new EverstepError(
        "INVALID_EVENT_TYPE",
        `Wait "${checkedName}" needs { type } or { topic }: step.waitForEvent("${checkedName}", { type: "approved" }).`,
      );
    }
    const topic = options.topic === undefined ? null : checkTopic(options.topic, limits);
    const type = topic === null ? checkEventType(options.type, limits) : null;
    const what = `timeout of wait "${checkedName}"`;
    const timeout = options.timeout ?? limits.waitMsDefault;
    const ms = cloudflare && timeout === 0 ? limits.waitMsDefault : parseDuration(timeout, what);
    checkDuration(ms, { min: limits.waitMsMin, max: limits.waitMsMax }, what);
    const { onConsume = null } = options;
    const received = await host.call({
      ...emptySpec,
      type: "waitForEvent",
      name: checkedName,
      wakeAt: host.now() + ms,
      eventType: type,
      topic,
      onConsume,
    });
    return received as ReceivedEvent;
  }

  let log: WorkflowLogger | null = null;
  return {
    do: ((name: unknown, second: unknown, third?: unknown, fourth?: unknown) => {
      try {
        // The call's own promise, not one more around it: this is the hottest line of the engine.
        return doStep(name, second, third, fourth);
      } catch (error) {
        return unheard(() => Promise.reject(error))();
      }
    }) as WorkflowStep["do"],
    sleep: unheard(sleep),
    sleepUntil: unheard(sleepUntil),
    waitForEvent: unheard(waitForEvent) as WorkflowStep["waitForEvent"],
    // Made when it is used: many workflows never log.
    get log() {
      log ??= createLogger(host);
      return log;
    },
  };
}

/** A call nobody awaits may fail without taking the process down. */
function unheard<Given extends unknown[], Result>(
  call: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  return (...given) => {
    const promise = call(...given);
    promise.catch(ignore);
    return promise;
  };
}

function ignore(): void {}

const emptySpec: Omit<CallSpec, "type" | "name"> = {
  callback: null,
  options: null,
  wakeAt: null,
  durationMs: null,
  eventType: null,
  topic: null,
  onConsume: null,
};

function createLogger(host: StepApiHost): WorkflowLogger {
  const { limits } = host.definition;
  const write = (level: LogLevel) =>
    unheard(async (message: string, data?: unknown, options: LogOptions = {}): Promise<void> => {
      if (typeof message !== "string") {
        throw new EverstepError("INVALID_LOG", "A log line's message must be text; pass values as its data.");
      }
      const category = options.category ?? "workflow";
      if (category === systemCategory) {
        throw new EverstepError(
          "INVALID_LOG",
          'The log category "system" belongs to the engine. Choose another.',
        );
      }
      checkLogCategory(category, limits);
      const kept = message.length > limits.logMessageMax ? message.slice(0, limits.logMessageMax) : message;
      host.log(level, kept, data, category);
    });
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
