/** Every scenario and every invariant is in the name of a test, or in the table of those that do not apply. */
import { expect, test } from "vitest";
import { complaints, idsUpTo, namedIds } from "./named-ids.ts";
import { invariantsNotApplicable, scenariosInPart, scenariosNotApplicable } from "./not-applicable.ts";

test("every regression scenario is a test, or says why it does not apply", () => {
  const gaps = { missing: scenariosNotApplicable, partly: scenariosInPart };
  expect(complaints(idsUpTo("R", 100, 3), namedIds(/\bR-\d{3}\b/g), gaps)).toEqual([]);
});

test("every invariant is guarded by a test, or says why it does not apply", () => {
  const gaps = { missing: invariantsNotApplicable };
  expect(complaints(idsUpTo("INV", 50), namedIds(/\bINV-\d+\b/g), gaps)).toEqual([]);
});

test("every promise of liveness is guarded by a test", () => {
  expect(complaints(idsUpTo("LIV", 8), namedIds(/\bLIV-\d+\b/g), { missing: [] })).toEqual([]);
});
