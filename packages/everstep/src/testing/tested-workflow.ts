/**
 * A workflow as the harness runs it: the author's function, unchanged, with a `step` that applies the mocks and reports
 * which bodies are in flight. Everything still goes through the engine, so the recorded history looks real: a mocked
 * step is a `do` with attempts and errors, a mocked event is an event that was sent and consumed, a disabled sleep is a
 * sleep that was over at once.
 */
import type { WorkflowDefinition, WorkflowMode } from "../authoring/define-workflow.ts";
import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import type {
  ReceivedEvent,
  StepCallback,
  StepConfig,
  StepContext,
  WaitOptions,
  WorkflowEvent,
  WorkflowStep,
} from "../authoring/workflow-step.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Limits } from "../model/limits.ts";
import { type BodyWatch, currentBody, waiting } from "./body-watch.ts";
import type { MockBook } from "./mocks.ts";
import type { TestProcess } from "./test-process.ts";

export interface TestedWorkflowHost {
  readonly mocks: MockBook;
  readonly bodies: BodyWatch;
  readonly process: TestProcess;
  settle(): Promise<void>;
  /** The limits that hold for the workflow outside of tests. */
  readonly limits: Limits;
  readonly mode: WorkflowMode;
  /** Sends a mocked event, at most once for the wait at this place of a run. */
  sendMocked(ref: InstanceRef, place: string, event: { type: string; payload: unknown }): void;
}

export function testedWorkflow(definition: WorkflowDefinition, host: TestedWorkflowHost): WorkflowDefinition {
  // A wait that is mocked to time out lasts no time; other waits are held to the real limit by `waitForEvent` below.
  return {
    ...definition,
    options: { ...definition.options, limits: { ...definition.options.limits, minWaitTimeout: 0 } },
    limits: { ...definition.limits, minWaitTimeoutMs: 0 },
    run: (event: WorkflowEvent, step: WorkflowStep) => definition.run(event, testedStep(event, step, host)),
  };
}

function testedStep(ref: InstanceRef, step: WorkflowStep, host: TestedWorkflowHost): WorkflowStep {
  const { mocks, bodies, process, limits } = host;
  const uses = new WeakMap<object, Map<string, number>>();

  function watched<Result>(callback: StepCallback<Result>): StepCallback<Result> {
    return (context) => {
      const { workflowName, instanceId } = ref;
      const body = { workflowName, instanceId, stepName: context.step.name, process, settle: host.settle };
      return bodies.run(body, context.signal, () => mockedOr(callback, context));
    };
  }

  function mockedOr<Result>(callback: StepCallback<Result>, context: StepContext): Promise<Result> | Result {
    const behaviour = mocks.stepBehaviour(ref, context);
    switch (behaviour?.kind) {
      case undefined:
        return callback(context);
      case "returns": {
        const { value } = behaviour;
        return (typeof value === "function" ? value(context) : value) as Result;
      }
      case "throws":
        throw behaviour.error;
      case "timesOut":
        return waiting(new Promise<never>(() => {}));
    }
  }

  function doStep(...args: unknown[]): Promise<unknown> {
    const callbackAt = args.findIndex((arg) => typeof arg === "function");
    const passed = [...args];
    if (callbackAt === 1 || callbackAt === 2) {
      passed[callbackAt] = watched(args[callbackAt] as StepCallback<unknown>);
      if (!mocks.delaysRetries(ref)) withoutRetryDelays(passed, callbackAt);
    }
    return waiting((step.do as (...args: unknown[]) => Promise<unknown>)(...passed));
  }

  function sleep(name: string, duration: Duration): Promise<void> {
    const isOver = !mocks.sleeps(ref, name) && isDuration(duration, limits.maxSleepMs);
    return waiting(step.sleep(name, isOver ? 0 : duration));
  }

  function sleepUntil(name: string, timestamp: Date | number): Promise<void> {
    const now = process.runtime.now();
    const isOver = !mocks.sleeps(ref, name) && isDuration(Number(timestamp) - now, limits.maxSleepMs);
    return waiting(step.sleepUntil(name, isOver ? now : timestamp));
  }

  function waitForEvent(name: string, options: WaitOptions): Promise<ReceivedEvent> {
    const wait = mockedWait(name, options);
    // As in the engine: a wait nobody awaits may fail without taking the process down.
    wait.catch(() => {});
    return waiting(wait);
  }

  async function mockedWait(name: string, options: WaitOptions): Promise<ReceivedEvent> {
    const { type, timeout } = (options ?? {}) as Partial<WaitOptions>;
    const isDefault = timeout === undefined || (timeout === 0 && host.mode === "cloudflare");
    if (!isDefault) {
      const what = `timeout of wait "${name}"`;
      checkDuration(parseDuration(timeout, what), { min: limits.minWaitTimeoutMs }, what);
    }
    const behaviour = typeof type === "string" ? mocks.eventBehaviour(ref, type) : null;
    // In words, because code written for Cloudflare means the default by a plain 0.
    if (behaviour?.kind === "timesOut") return step.waitForEvent(name, { ...options, timeout: "0 seconds" });
    const received = step.waitForEvent(name, options);
    if (behaviour?.kind === "arrives" && type) {
      host.sendMocked(ref, placeOf(name), { type, payload: behaviour.payload });
    }
    return received;
  }

  /** The same wait has the same place in every passage; names are counted as the engine counts them. */
  function placeOf(name: string): string {
    const body = currentBody();
    const counts = uses.get(body ?? uses) ?? new Map<string, number>();
    uses.set(body ?? uses, counts);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const place = [body?.stepName, name].filter((part) => part !== undefined).join("/");
    return count === 1 ? place : `${place}#${count}`;
  }

  return { do: doStep as WorkflowStep["do"], sleep, sleepUntil, waitForEvent, log: step.log };
}

function withoutRetryDelays(args: unknown[], callbackAt: number): void {
  const config = (callbackAt === 2 ? args[1] : null) as StepConfig | null | undefined;
  if (config?.retries === false || config?.retriesAllowed === false) return;
  const undelayed: StepConfig = { ...config, retries: { ...config?.retries, delay: 0 } };
  args.splice(1, callbackAt - 1, undelayed);
}

function isDuration(value: unknown, maxMs: number): boolean {
  try {
    return parseDuration(value, "duration") <= maxMs;
  } catch {
    return false;
  }
}
