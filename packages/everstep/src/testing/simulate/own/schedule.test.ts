import { expect, test } from "vitest";
import { clockText, lengthText, Schedule } from "./schedule.ts";

test.each([
  [0, "00:00:00.000"],
  [1250.9, "00:00:01.250"],
  [3_661_001, "01:01:01.001"],
  [30 * 86_400_000 + 5, "30d 00:00:00.005"],
])("%d ms after the beginning the clock says %s", (ms, text) => {
  expect(clockText(ms)).toBe(text);
});

test.each([
  [0.25, "0.3 ms"],
  [42, "42 ms"],
  [1000, "1 second"],
  [90_000, "1.5 minutes"],
  [86_400_000, "1 day"],
])("%d ms are about %s", (ms, text) => {
  expect(lengthText(ms)).toBe(text);
});

test("another order or another time is another hash", () => {
  const told = (...lines: readonly (readonly [number, string])[]): string => {
    let now = 0;
    const schedule = new Schedule(() => now);
    for (const [at, kind] of lines) {
      now = at;
      schedule.line(kind, () => kind);
    }
    return schedule.hash;
  };
  expect(told([1, "a"], [2, "b"])).toBe(told([1, "a"], [2, "b"]));
  expect(told([1, "a"], [2, "b"])).not.toBe(told([1, "b"], [2, "a"]));
  expect(told([1, "a"], [2, "b"])).not.toBe(told([1, "a"], [3, "b"]));
});
