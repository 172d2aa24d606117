import { expect, test } from "vitest";
import { activeRecord, foundIn, runOf, sampleNow } from "../../../../../tests/support/sample-run.ts";
import { defaultLimits } from "../../model/limits.ts";
import { checkRun } from "../check-run.ts";

test.each([0, 1, defaultLimits.maxCrashes])(
  "INV-14 a run with %i crashes in a row is sound",
  (crashCount) => {
    expect(foundIn(runOf(activeRecord({ crashCount })))).toEqual([]);
  },
);

test("INV-14 a run beyond its limit is found, unless those died who were to give it up", () => {
  const facts = runOf(activeRecord({ crashCount: defaultLimits.maxCrashes + 1 }));
  expect(foundIn(facts)).toEqual(["INV-14 unless died-giving-up"]);
});

test("INV-14 the limit is the workflow's own", () => {
  const facts = runOf(activeRecord({ crashCount: 50 }));
  expect(checkRun(facts, sampleNow, { ...defaultLimits, maxCrashes: 50 })).toEqual([]);
});

test.each([-1, 0.5, Number.NaN])("INV-14 a run with %d crashes is found", (crashCount) => {
  expect(foundIn(runOf(activeRecord({ crashCount })))).toEqual(["INV-14"]);
});
