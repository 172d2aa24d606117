import { type Duration, parseDuration } from "../authoring/duration.ts";
import { WaitForEventTimeoutError } from "../authoring/errors.ts";
import type { RetryDelay, StepConfig, WaitOptions, WorkflowStep } from "../authoring/workflow-step.ts";
import { stepError, waitTimeout } from "./errors.ts";

/** The `step` argument as Cloudflare's code knows it: the same calls, and errors under Cloudflare's names. */
export function cloudflareStep(step: WorkflowStep, defaultWaitTimeoutMs: number): WorkflowStep {
  const doStep = (...call: readonly unknown[]): Promise<unknown> => {
    const known = call.map((argument, at) => (at === 1 ? withKnownErrors(argument) : argument));
    return speaking((step.do as (...call: readonly unknown[]) => Promise<unknown>)(...known), stepError);
  };
  return {
    do: doStep as WorkflowStep["do"],
    sleep: (name, duration) => speaking(step.sleep(name, duration), stepError),
    sleepUntil: (name, timestamp) => speaking(step.sleepUntil(name, timestamp), stepError),
    waitForEvent: (name: string, options: WaitOptions) =>
      speaking(step.waitForEvent(name, options), (error) =>
        error instanceof WaitForEventTimeoutError
          ? waitTimeout(timeoutMsOf(options, defaultWaitTimeoutMs))
          : stepError(error),
      ),
    log: step.log,
  };
}

/** A promise whose failure is put into Cloudflare's words. One that nobody awaits may fail unheard. */
function speaking<Result>(
  promise: Promise<Result>,
  inOtherWords: (error: unknown) => unknown,
): Promise<Result> {
  const spoken = promise.catch((error: unknown) => {
    throw inOtherWords(error);
  });
  spoken.catch(() => {});
  return spoken;
}

/** A delay function sees the error that failed the attempt; it shall know that one, too. */
function withKnownErrors(config: unknown): unknown {
  const { retries } = (config ?? {}) as StepConfig;
  const delay = typeof retries === "object" ? retries?.delay : undefined;
  if (typeof delay !== "function") return config;
  const known: RetryDelay = ({ ctx, error }) => delay({ ctx, error: stepError(error) as Error });
  return { ...(config as StepConfig), retries: { ...(retries as object), delay: known } };
}

// Only asked once the wait is over, so the timeout is one that the engine accepted; 0 means the default.
function timeoutMsOf(options: WaitOptions, defaultWaitTimeoutMs: number): number {
  const timeout: Duration | undefined = options.timeout;
  return timeout === undefined || timeout === 0 ? defaultWaitTimeoutMs : parseDuration(timeout, "timeout");
}
