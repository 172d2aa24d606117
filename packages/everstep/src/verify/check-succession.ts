/**
 * What two looks at the same run, one later, may never show, however much happened in between. Between them the failed
 * step of an errored run may have been retried: the token has moved, the step is open again, what was recorded inside
 * it is gone and the events it took are there again. Everything else only ever grows.
 */

import { keptEventRules } from "./rules/kept-events.ts";
import { keptRunRules } from "./rules/kept-run.ts";
import { keptStepRules } from "./rules/kept-steps.ts";
import type { RunFacts } from "./run-facts.ts";
import { type Found, type Violation, violationsOf } from "./violation.ts";

export type SuccessionRule = (before: RunFacts, after: RunFacts) => Iterable<Found>;

const rules: readonly SuccessionRule[] = [keptRunRules, keptStepRules, keptEventRules];

export function checkSuccession(before: RunFacts, after: RunFacts): readonly Violation[] {
  // An instance that was removed and created again under the same id is another one.
  if (before.record.runId !== after.record.runId) return [];
  return violationsOf(
    after.record,
    rules.flatMap((rule) => [...rule(before, after)]),
  );
}
