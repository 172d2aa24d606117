/** Every expectation of security is in the name of a test, or in the table of those that do not apply yet. */
import { expect, test } from "vitest";
import { complaints, idsUpTo, namedIds } from "../regressions/named-ids.ts";
import { expectationsInPart, expectationsNotApplicable } from "./not-applicable.ts";

test("every security expectation is a test, or says why it does not apply", () => {
  const gaps = { missing: expectationsNotApplicable, partly: expectationsInPart };
  expect(complaints(idsUpTo("SEC", 34), namedIds(/\bSEC-\d+\b/g), gaps)).toEqual([]);
});
