import { parseDuration } from "../authoring/duration.ts";
import { planChange } from "../engine/lifecycle.ts";
import { planRetryFailedStep } from "../engine/retry-failed-step.ts";
import { EverstepError } from "../model/error.ts";
import type { RetryOptions } from "../wire/options.ts";
import { change, isRepeat, type SteeringOptions } from "./steering.ts";
import type { StoredInstance } from "./stored-instance.ts";

const delayMsMax = 30 * 24 * 60 * 60 * 1000;

export async function retryFailedStep(
  instance: StoredInstance,
  options: SteeringOptions & RetryOptions,
): Promise<void> {
  const delayMs = options.delay === undefined ? 0 : parseDuration(options.delay, "delay");
  if (delayMs > delayMsMax) throw new EverstepError("INVALID_DURATION", "delay must be at most 30 days.");
  const nothing = { kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: 0 } as const;
  if (await isRepeat(planChange(instance.ref, [], nothing), options, instance.parts)) return;
  await retry(instance, delayMs, options);
}

async function retry(instance: StoredInstance, delayMs: number, options: SteeringOptions): Promise<void> {
  const { ref, parts } = instance;
  const { runNumber, token, runId, status, error } = await instance.read();
  if (status !== "errored") {
    throw new EverstepError(
      "INSTANCE_NOT_ERRORED",
      `Instance "${ref.instanceId}" is ${status}; only the failed step of an errored instance can be retried.`,
    );
  }
  const steps = await instance.steps(runId);
  // Read while somebody else was at it, they may fit nothing.
  if ((await instance.read()).token !== token) return retry(instance, delayMs, options);
  const now = parts.runtime.now();
  const plan = planRetryFailedStep(ref, steps, error, delayMs, now);
  // Made for the steps that were read: if it was retried or restarted meanwhile, and failed again, they are others.
  const outcome = await change({ ...plan, when: { ...plan.when, runNumber, token } }, options, parts);
  if (outcome.kind === "refused") return retry(instance, delayMs, options);
  parts.runner.dueAt(now + delayMs);
}
