import { expect, test } from "vitest";
import { hasExistingDay } from "./existing-day.ts";

test.each([
  ["2027-02-28T23:59:59-12:00", true],
  ["2028-02-29", true],
  ["+002028-02-29T00:00:00Z", true],
  ["2027-02-29T00:00:00Z", false],
  ["2027-02-30", false],
  ["2027-04-31T12:00:00+02:00", false],
  ["2027-13-01", false],
  ["2027-00-10", false],
])("%s: %s", (text, exists) => expect(hasExistingDay(text)).toBe(exists));
