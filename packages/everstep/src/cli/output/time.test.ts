import { expect, test, vi } from "vitest";
import { absoluteTime, relativeTime, spokenDuration } from "./time.ts";

const now = Date.UTC(2026, 0, 31, 12);
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, "now"],
  [-999, "now"],
  [-second, "1 s ago"],
  [-59 * second, "59 s ago"],
  [-5 * minute, "5 min ago"],
  [-(2 * hour - 1), "1 h ago"],
  [-3 * day, "3 d ago"],
  [30 * second, "in 30 s"],
  [24 * hour - 1, "in 1 d"],
  [10 * day, "in 10 d"],
])("%i ms from now is %s", (distance, words) => {
  expect(relativeTime(new Date(now + distance).toISOString(), now)).toBe(words);
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1000, "1 s"],
  [1240, "1.2 s"],
  [minute + 5 * second, "1 min 5 s"],
  [2 * hour, "2 h"],
  [day + 4 * hour, "1 d 4 h"],
])("%i ms are said as %s", (ms, words) => {
  expect(spokenDuration(ms)).toBe(words);
});

test("a time is said to the second, as the clocks here have it", () => {
  vi.stubEnv("TZ", "UTC");
  expect(absoluteTime("2026-01-31T12:00:00.123Z")).toBe("2026-01-31 12:00:00 UTC");
  vi.stubEnv("TZ", "Asia/Kolkata");
  expect(absoluteTime("2026-01-31T20:00:00.123Z")).toBe("2026-02-01 01:30:00 +05:30");
  vi.stubEnv("TZ", "America/New_York");
  expect(absoluteTime("2026-01-31T02:00:00.123Z")).toBe("2026-01-30 21:00:00 -05:00");
  expect(absoluteTime("soon")).toBe("soon");
});
