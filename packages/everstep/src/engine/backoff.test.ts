import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crashDelayMs, retryDelayMs, storeRetryDelayMs } from "./backoff.ts";

type Policy = Parameters<typeof retryDelayMs>[0];
const policy = (facts: Partial<Policy> = {}): Policy => ({
  backoff: "exponential",
  factor: 2,
  maxDelayMs: null,
  ...facts,
});
const delays = (given: Policy, base: number, count = 4): number[] =>
  Array.from({ length: count }, (_, at) => retryDelayMs(given, base, at + 1));

describe("the delay before a step's next attempt", () => {
  test.each([
    ["exponential: d, 2d, 4d, 8d", policy(), [100, 200, 400, 800]],
    ["linear: d, 2d, 3d, 4d", policy({ backoff: "linear" }), [100, 200, 300, 400]],
    ["constant: d, d, d, d", policy({ backoff: "constant" }), [100, 100, 100, 100]],
    ["exponential by another factor", policy({ factor: 3 }), [100, 300, 900, 2700]],
    ["capped", policy({ maxDelayMs: 250 }), [100, 200, 250, 250]],
    ["a cap below the delay itself", policy({ maxDelayMs: 50 }), [50, 50, 50, 50]],
    ["a factor of a half step is rounded up, never early", policy({ factor: 1.5 }), [100, 150, 225, 338]],
  ])("%s", (_, given, expected) => {
    expect(delays(given, 100)).toEqual(expected);
  });

  test("is a whole number of milliseconds at any attempt, for any policy", () => {
    const policies = fc.record({
      backoff: fc.constantFrom("exponential", "linear", "constant" as const),
      factor: fc.double({ min: 1, max: 1000, noNaN: true }),
      maxDelayMs: fc.option(fc.nat(), { nil: null }),
    });
    fc.assert(
      fc.property(policies, fc.nat(), fc.integer({ min: 1, max: 100_000 }), (given, base, attempt) => {
        const delay = retryDelayMs(given as Policy, base, attempt);
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
      }),
      { seed: 7 },
    );
  });

  test("no delay stays no delay, also at the two-thousandth attempt", () => {
    expect(retryDelayMs(policy(), 0, 2000)).toBe(0);
  });
});

describe("the delay before a run is tried again whose runner died", () => {
  const crashes = Array.from({ length: 11 }, (_, n) => n + 1);
  const delays = (roll: number): number[] => crashes.map((crash) => crashDelayMs(crash, () => roll));

  test("is none the first time, then 3 to 5 seconds, 5 to 7, 9 to 11, and at most 300", () => {
    expect(delays(0)).toEqual([0, 3, 5, 9, 17, 33, 65, 129, 257, 300, 300].map((s) => s * 1000));
    expect(delays(1)).toEqual([0, 5, 7, 11, 19, 35, 67, 131, 259, 300, 300].map((s) => s * 1000));
  });

  test("is another for every run, to the millisecond", () => {
    const drawn = new Set(crashes.map((n) => crashDelayMs(2, () => n / 11)));
    expect(drawn.size).toBe(crashes.length);
  });
});

describe("the delay before a store call is repeated", () => {
  test("begins at a second, doubles to a minute, and is shortened by up to half", () => {
    const of = (roll: number) => Array.from({ length: 8 }, (_, at) => storeRetryDelayMs(at, () => roll));
    expect(of(0)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(of(1)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });
});
