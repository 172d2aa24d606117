import { expect, test } from "vitest";
import { readMoment } from "./moment.ts";

test("a day that does not exist is no time, in whichever form", () => {
  expect(readMoment("--start-at", "2028-02-29")).toEqual({ at: Date.UTC(2028, 1, 29) });
  for (const text of ["2027-02-29", "2027-02-30T00:00:00Z", "2027-04-31T12:00+02:00"]) {
    expect(() => readMoment("--start-at", text)).toThrow(/must be a time/);
  }
});
