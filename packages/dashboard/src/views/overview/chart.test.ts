import { expect, test } from "vitest";
import { endedPerMinute, errorRate, roundTop, stepsPerMinute, totalsOf } from "./chart.ts";

const empty = { complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 };

function activity(...buckets: Partial<typeof empty>[]) {
  const start = Date.parse("2026-03-01T09:00:00.000Z");
  return {
    from: new Date(start).toISOString(),
    to: new Date(start + buckets.length * 120_000).toISOString(),
    bucketMs: 120_000,
    buckets: buckets.map((each, at) => ({
      ...empty,
      ...each,
      at: new Date(start + at * 120_000).toISOString(),
    })),
  };
}

test("throughput is told per minute, however long a bucket is", () => {
  const { bars } = endedPerMinute(activity({ complete: 10, errored: 2, terminated: 4 }));
  expect(bars[0]?.parts).toEqual([5, 2, 1]);
});

test("steps and failed attempts are told per minute", () => {
  expect(stepsPerMinute(activity({ steps: 8, failedAttempts: 2 })).bars[0]?.parts).toEqual([4, 1]);
});

test("the error rate is the share of those that ended, and nothing where none did", () => {
  const { bars, top } = errorRate(activity({ complete: 3, errored: 1 }, {}));
  expect(bars.map(({ parts }) => parts)).toEqual([[25], [0]]);
  expect(top).toBe(100);
});

test("totals go over the whole time that is shown", () => {
  const totals = totalsOf(
    activity({ complete: 3, errored: 1, steps: 5 }, { terminated: 1, failedAttempts: 2 }),
  );
  expect(totals).toEqual({ ended: 5, errored: 1, steps: 5, failedAttempts: 2 });
});

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [5.0001, 10],
  [12, 20],
  [0.03, 0.05],
])("a scale for at most %d goes up to %d", (most, top) => {
  expect(roundTop(most)).toBeCloseTo(top);
});

test("a bar knows when it begins and ends", () => {
  const [bar] = endedPerMinute(activity({})).bars;
  expect((bar?.until ?? 0) - (bar?.at ?? 0)).toBe(120_000);
});
