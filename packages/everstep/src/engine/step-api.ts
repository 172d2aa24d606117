import { eventSchema } from "../authoring/declared-events.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import { checkEventType, checkLogCategory, checkStepName, checkTopic } from "../authoring/names.ts";
import type {
  LogOptions,
  StepCallback,
  WaitOptions,
  WorkflowLogger,
  WorkflowStep,
} from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { timeMax } from "../model/limits.ts";
import { type LogLevel, operatorCategory, systemCategory } from "../model/log-line.ts";
import { readOptions } from "../model/read-options.ts";
import type { CallSpec } from "./call.ts";
import type { StepOptions, StepOptionsResolver } from "./step-options.ts";

/** What the author's `step` object hands its checked calls to. */
export interface StepApiHost {
  readonly definition: WorkflowDefinition;
  readonly options: StepOptionsResolver;
  now(): number;
  /** A call is made, outside of what turns mistakes into rejections: what this throws must end the loop that made it. */
  called(): void;
  call(spec: CallSpec): Promise<unknown>;
  log(level: LogLevel, message: string, data: unknown, category: string): void;
  /** What a call comes to that is over as soon as it is made. */
  answer<Value>(answer: () => Value): Promise<Value>;
}

/** The `step` argument of `run`: checks what the author passed, then asks the turn. Mistakes reject the call's promise. */
export function createStepApi(host: StepApiHost): WorkflowStep {
  const { limits } = host.definition;
  const cloudflare = host.definition.mode === "cloudflare";

  function doStep(name: unknown, second: unknown, third?: unknown, fourth?: unknown): Promise<unknown> {
    let options: StepOptions | null = null;
    let problem: unknown;
    let text: string;
    // Without helpers: this is the hottest function of the engine.
    try {
      text = checkStepName(name, limits);
    } catch (error) {
      text = nameInSpiteOf(error, name);
      problem = error;
    }
    const callback = typeof second === "function" ? second : third;
    if (typeof callback !== "function") {
      throw new EverstepError(
        "INVALID_STEP_CONFIG",
        `Step "${text}" has no function to run. Pass one: step.do("${text}", async () => { ... }).`,
      );
    }
    const extra = typeof second === "function" ? third : fourth;
    if (extra !== undefined) {
      throw new EverstepError(
        "INVALID_STEP_CONFIG",
        `Step "${text}" has an argument after its function. Rollback handlers are not supported: ` +
          "undo in a catch block with a step of its own.",
      );
    }
    try {
      options = host.options.resolve(typeof second === "function" ? undefined : second, text);
    } catch (error) {
      problem ??= error;
    }
    return host.call({
      type: "do",
      name: text,
      callback: callback as StepCallback<unknown>,
      options,
      wakeAt: null,
      durationMs: null,
      eventType: null,
      topic: null,
      onConsume: null,
      problem,
    });
  }

  function sleep(name: string, duration: Duration): Promise<unknown> {
    const { text, problem } = named(name);
    const length = checked(() => {
      const what = `duration of sleep "${text}"`;
      const ms = parseDuration(duration, what);
      checkDuration(ms, { min: 0, max: limits.maxSleepMs }, what);
      return ms;
    });
    return host.call({
      ...emptySpec,
      type: "sleep",
      name: text,
      wakeAt: host.now() + (length.value ?? 0),
      durationMs: length.value ?? null,
      problem: problem ?? length.problem,
    });
  }

  function sleepUntil(name: string, timestamp: Date | number): Promise<unknown> {
    const { text, problem } = named(name);
    const until = checked(() => {
      const at = timestamp instanceof Date ? timestamp.getTime() : timestamp;
      if (typeof at !== "number" || !Number.isFinite(at) || at > timeMax) {
        throw new EverstepError(
          "INVALID_DURATION",
          `The time of sleepUntil "${text}" is not valid. Pass a Date or epoch milliseconds.`,
        );
      }
      checkDuration(Math.max(0, at - host.now()), { min: 0, max: limits.maxSleepMs }, `sleepUntil "${text}"`);
      // However long ago it was: a store must be able to keep it.
      return Math.max(0, Math.ceil(at));
    });
    const wakeAt = until.value ?? host.now();
    return host.call({
      ...emptySpec,
      type: "sleep",
      name: text,
      wakeAt,
      problem: problem ?? until.problem,
    });
  }

  function waitForEvent(name: string, options: WaitOptions): Promise<unknown> {
    const { text, problem } = named(name);
    if (typeof options !== "object" || options === null) {
      throw new EverstepError(
        "INVALID_EVENT_TYPE",
        `Wait "${text}" needs { type } or { topic }: step.waitForEvent("${text}", { type: "approved" }).`,
      );
    }
    const given = `What wait "${text}" was given`;
    const { type, topic, onConsume, timeout } = readOptions(given, "INVALID_STEP_CONFIG", () =>
      waitOf(options, limits.defaultWaitTimeoutMs),
    );
    const awaited = checked(() => {
      // Cloudflare ignores what it does not know.
      if (!cloudflare) readOptions(given, "INVALID_STEP_CONFIG", () => checkWait(options, text));
      return topic === undefined
        ? { eventType: declaredType(checkEventType(type, limits)), topic: null }
        : { eventType: null, topic: checkTopic(topic, limits) };
    });
    const patience = checked(() => {
      const what = `timeout of wait "${text}"`;
      const ms = cloudflare && timeout === 0 ? limits.defaultWaitTimeoutMs : parseDuration(timeout, what);
      checkDuration(ms, { min: limits.minWaitTimeoutMs, max: limits.maxWaitTimeoutMs }, what);
      return ms;
    });
    return host.call({
      ...emptySpec,
      type: "waitForEvent",
      name: text,
      wakeAt: host.now() + (patience.value ?? 0),
      ...(awaited.value ?? { eventType: type ?? null, topic: topic ?? null }),
      onConsume,
      problem: problem ?? awaited.problem ?? patience.problem,
    });
  }

  function declaredType(type: string): string {
    eventSchema(type, host.definition);
    return type;
  }

  function named(name: unknown): { readonly text: string; readonly problem: unknown } {
    const { value, problem } = checked(() => checkStepName(name, limits));
    return { text: value ?? nameInSpiteOf(problem, name), problem };
  }

  /** A mistake rejects the call's promise. */
  function refused(mistake: unknown): Promise<never> {
    return host.answer(() => {
      throw mistake;
    });
  }

  function asking<Given, More>(
    ask: (name: string, given: Given) => Promise<More>,
  ): (name: string, given: Given) => Promise<More> {
    return (name, given) => {
      host.called();
      try {
        return ask(name, given);
      } catch (mistake) {
        return refused(mistake);
      }
    };
  }

  let log: WorkflowLogger | null = null;
  return {
    do: ((name: unknown, second: unknown, third?: unknown, fourth?: unknown) => {
      host.called();
      try {
        // The call's own promise, not one more around it: this is the hottest line of the engine.
        return doStep(name, second, third, fourth);
      } catch (mistake) {
        return refused(mistake);
      }
    }) as WorkflowStep["do"],
    sleep: asking(sleep) as WorkflowStep["sleep"],
    sleepUntil: asking(sleepUntil) as WorkflowStep["sleepUntil"],
    waitForEvent: asking(waitForEvent) as WorkflowStep["waitForEvent"],
    // Made when it is used: many workflows never log.
    get log() {
      log ??= createLogger(host);
      return log;
    },
  };
}

/** Read once: what is checked is what is used. */
function waitOf({ type, topic, onConsume, timeout }: WaitOptions, defaultWaitTimeoutMs: number) {
  return { type, topic, onConsume: onConsume ?? null, timeout: timeout ?? defaultWaitTimeoutMs };
}

function checkWait(options: WaitOptions, name: string): void {
  checkNames(options, waitNames, `Wait "${name}"`, "INVALID_STEP_CONFIG");
  if (options.type === undefined || options.topic === undefined) return;
  throw new EverstepError(
    "INVALID_EVENT_TYPE",
    `Wait "${name}" has a type and a topic. It waits for events of a type, or for publications on a topic: keep one.`,
  );
}

const waitNames: NamesOf<WaitOptions> = { type: true, topic: true, timeout: true, onConsume: true };

/** A step may be recorded under a name that is too long by now. */
function nameInSpiteOf(problem: unknown, name: unknown): string {
  if (typeof name === "string") return name.trim();
  throw problem;
}

/** What an argument comes to, or what is wrong with it, which matters only if nothing is recorded of the step. */
function checked<Value>(check: () => Value): { readonly value?: Value; readonly problem?: unknown } {
  try {
    return { value: check() };
  } catch (problem) {
    return { problem };
  }
}

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
  const write =
    (level: LogLevel) =>
    (message: string, data?: unknown, options: LogOptions = {}): Promise<void> => {
      host.called();
      // Written now, whenever the answer comes: nobody may be awaiting it.
      const { problem } = checked(() => {
        if (typeof message !== "string") {
          throw new EverstepError(
            "INVALID_LOG",
            "A log line's message must be text; pass values as its data.",
          );
        }
        const category = readOptions(
          "What the log line was given",
          "INVALID_LOG",
          () => options.category ?? "workflow",
        );
        if (category === systemCategory || category === operatorCategory) {
          throw new EverstepError(
            "INVALID_LOG",
            `The log category "${category}" belongs to the engine. Choose another.`,
          );
        }
        checkLogCategory(category, limits);
        const kept =
          message.length > limits.maxLogMessageLength
            ? message.slice(0, limits.maxLogMessageLength)
            : message;
        host.log(level, kept, data, category);
      });
      return host.answer(() => {
        if (problem !== undefined) throw problem;
      });
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
