import { parseDuration } from "../authoring/duration.ts";
import { type ChangePlan, planChange } from "../engine/lifecycle.ts";
import { planRetryFailedStep } from "../engine/retry-failed-step.ts";
import type { SteeringOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import type { RetryOptions } from "../wire/options.ts";
import { change, unlessRepeat } from "./steering.ts";
import type { StoredInstance } from "./stored-instance.ts";

const delayMsMax = 30 * 24 * 60 * 60 * 1000;

export async function retryFailedStep(
  instance: StoredInstance,
  options: SteeringOptions & RetryOptions,
): Promise<void> {
  const delayMs = options.delay === undefined ? 0 : parseDuration(options.delay, "delay");
  if (delayMs > delayMsMax) throw new EverstepError("INVALID_DURATION", "delay must be at most 30 days.");
  await retry(instance, delayMs, options);
}

async function retry(instance: StoredInstance, delayMs: number, options: SteeringOptions): Promise<void> {
  const { ref, parts } = instance;
  const nothing = { kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: 0 } as const;
  // A repeat finds an instance that has long gone on.
  const plan = await unlessRepeat(planChange(ref, [], nothing), options, parts, () =>
    planned(instance, delayMs),
  );
  if (plan === "repeat") return;
  const outcome = plan && (await change(plan, options, parts));
  if (outcome?.kind !== "changed") return retry(instance, delayMs, options);
  parts.runner.dueAt(parts.runtime.now() + delayMs);
}

/** null: somebody else was at it while it was read, and what was read may fit nothing. */
async function planned(instance: StoredInstance, delayMs: number): Promise<ChangePlan | null> {
  const { ref, parts } = instance;
  const { runNumber, token, runId, status, error } = await instance.read();
  if (status !== "errored") {
    throw new EverstepError(
      "INSTANCE_NOT_ERRORED",
      `Instance "${ref.instanceId}" is ${status}; only the failed step of an errored instance can be retried.`,
    );
  }
  const steps = await instance.steps(runId);
  if ((await instance.read()).token !== token) return null;
  const plan = planRetryFailedStep(ref, steps, error, delayMs, parts.runtime.now());
  // Made for the steps that were read: if it was retried or restarted meanwhile, and failed again, they are others.
  return { ...plan, when: { ...plan.when, runNumber, token } };
}
