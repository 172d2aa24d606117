/** Attempts stay within their limits, timers are not early, and every event goes to one wait and every wait to one event. */

import type { StepView } from "everstep";
import { flakyThrowsMax, hopelessRetries } from "../acts.ts";
import { type Evidence, type RunEvidence, runName } from "../evidence.ts";
import { grouped } from "../grouped.ts";

export function auditLimits({ journeys, errands }: Evidence): string[] {
  return [...journeys, ...errands].flatMap((instance) =>
    instance.runs.flatMap((run) => {
      const name = runName(instance, run);
      return [...run.steps.flatMap(stepFaults), ...eventFaults(run)].map((fault) => `${name}: ${fault}`);
    }),
  );
}

function stepFaults(step: StepView): string[] {
  const { stepKey, type, attempts, maxAttempts, starts, status, errors } = step;
  const faults: string[] = [];
  if (maxAttempts !== null && attempts > maxAttempts) faults.push(`${stepKey} had ${attempts} attempts`);
  if (starts < attempts) faults.push(`${stepKey} had ${attempts} attempts in ${starts} starts`);
  if (errors.length > maxFailures(step)) faults.push(`${stepKey} failed ${errors.length} times`);
  if (/hopeless$/.test(step.name) && status === "errored" && attempts !== hopelessRetries + 1) {
    faults.push(`${stepKey} was given up after ${attempts} attempts`);
  }
  if (type === "sleep" && status === "completed" && (step.settledAt ?? 0) < (step.wakeAt ?? 0)) {
    faults.push(`${stepKey} woke before its time`);
  }
  return faults;
}

function maxFailures({ name }: StepView): number {
  if (/hopeless$/.test(name)) return hopelessRetries + 1;
  if (/once$/.test(name)) return 1;
  return /flaky$/.test(name) ? flakyThrowsMax : 0;
}

function eventFaults({ runNumber, steps, events }: RunEvidence): string[] {
  const faults: string[] = [];
  const consumed = events.filter(({ consumedByStepKey }) => consumedByStepKey !== null);
  const byStep = grouped(consumed, ({ consumedByStepKey }) => consumedByStepKey);
  for (const [key, taken] of byStep) {
    if (taken.length > 1) faults.push(`${key} took ${taken.length} events`);
    const step = steps.find(({ stepKey }) => stepKey === key);
    const { payload } = (step?.result ?? {}) as { readonly payload?: unknown };
    const [event] = taken;
    if (JSON.stringify(payload) !== JSON.stringify(event?.payload)) {
      faults.push(`${key} gave ${JSON.stringify(payload)} and took ${JSON.stringify(event?.payload)}`);
    }
  }
  // A later run may begin with waits that took their events in an earlier one.
  if (runNumber === 1) {
    const waits = steps.filter(({ type, status }) => type === "waitForEvent" && status === "completed");
    for (const { stepKey } of waits) if (!byStep.has(stepKey)) faults.push(`${stepKey} took no event`);
  }
  const letters = events.filter(({ type }) => type === "letter").map((event) => event.consumedByStepKey);
  const firstLeft = letters.indexOf(null);
  if (firstLeft >= 0 && letters.slice(firstLeft).some((key) => key !== null)) {
    faults.push("a letter was passed over for a later one");
  }
  return faults;
}
