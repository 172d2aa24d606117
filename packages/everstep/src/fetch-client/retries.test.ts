import { expect, test } from "vitest";
import { isPassingStatus, readRetryAfter, retryDelayMs } from "./retries.ts";

const timing = { delayMs: 500, mostMs: 15_000, float: () => 0 };

test.each([
  [1, 500],
  [2, 1000],
  [3, 2000],
  [6, 15_000],
  [1000, 15_000],
])("after %i failures it waits %i ms", (failures, ms) => {
  expect(retryDelayMs(failures, null, timing)).toBe(ms);
});

test("many clients do not come back all at once", () => {
  expect(retryDelayMs(1, null, { ...timing, float: () => 0.5 })).toBe(550);
});

test("the server says when to come back, but not after next week", () => {
  expect(retryDelayMs(1, 3000, timing)).toBe(3000);
  expect(retryDelayMs(1, 0, timing)).toBe(500);
  expect(retryDelayMs(1, 604_800_000, timing)).toBe(15_000);
});

const now = Date.UTC(2026, 0, 1);

test.each([
  ["3", 3000],
  [" 10 ", 10_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
  ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
  [null, null],
  ["", null],
  ["-1", null],
  ["1.5", null],
  ["soon", null],
  ["99999999999999", null],
  ["Foo, 99 GMT", null],
])("Retry-After %j means %j ms", (header, ms) => {
  expect(readRetryAfter(header, now)).toBe(ms);
});

test.each([
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [400, false],
  [401, false],
  [404, false],
  [409, false],
  [Number.NaN, false],
])("status %i passes by itself: %s", (status, isPassing) => {
  expect(isPassingStatus(status)).toBe(isPassing);
});
