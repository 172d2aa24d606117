/**
 * Everything that must hold in one look at one run. Exact: no run that the engine and a sound store made is reported,
 * whatever crashed, raced or was steered by hand meanwhile. What has an explanation that leaves no trace says so
 * (`unless`). Times are compared only where one clock wrote both.
 */
import { defaultLimits, type Limits } from "../model/limits.ts";
import { attemptRules } from "./rules/attempts.ts";
import { crashRules } from "./rules/crashes.ts";
import { eventRules } from "./rules/events.ts";
import { scheduleRules } from "./rules/schedule.ts";
import { statusRules } from "./rules/status.ts";
import { stepRules } from "./rules/steps.ts";
import { timerRules } from "./rules/timers.ts";
import { valueRules } from "./rules/values.ts";
import { wakeUpRules } from "./rules/wake-up.ts";
import type { RunFacts } from "./run-facts.ts";
import { type Found, type Violation, violationsOf } from "./violation.ts";

export type RunRule = (facts: RunFacts, now: number, limits: Limits) => Iterable<Found>;

const rules: readonly RunRule[] = [
  statusRules,
  scheduleRules,
  stepRules,
  attemptRules,
  timerRules,
  eventRules,
  wakeUpRules,
  valueRules,
  crashRules,
];

/** `limits` are those of the run's workflow, where they are known. */
export function checkRun(facts: RunFacts, now: number, limits: Limits = defaultLimits): readonly Violation[] {
  return violationsOf(
    facts.record,
    rules.flatMap((rule) => [...rule(facts, now, limits)]),
  );
}
