import type { Limits } from "../../model/limits.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/**
 * A run whose runners keep dying is given up at its limit, so nothing loops for ever (INV-14). The first lease that ran out
 * may have been nobody's, so two are had in any case.
 */
export function* crashRules({ record }: RunFacts, _now: number, limits: Limits): Generator<Found> {
  const { crashCount } = record;
  if (!Number.isInteger(crashCount) || crashCount < 0) {
    yield { invariant: "INV-14", message: `The run has ${crashCount} crashes in a row.` };
  } else if (crashCount > Math.max(limits.maxCrashes, 2)) {
    yield {
      invariant: "INV-14",
      message: `The run has ${crashCount} crashes in a row; at ${limits.maxCrashes} it is given up.`,
      unless: "died-giving-up",
    };
  }
}
