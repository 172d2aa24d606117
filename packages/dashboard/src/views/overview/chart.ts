/** What the small charts show, from the activity the service has counted. */
import type { WireActivity, WireActivityBucket } from "everstep/client";

export interface Bar {
  readonly at: number;
  readonly until: number;
  /** From the bottom up, in the unit of the chart. */
  readonly parts: readonly number[];
}

export interface ChartData {
  readonly bars: readonly Bar[];
  /** The top of the scale; never 0. */
  readonly top: number;
}

export function endedPerMinute({ buckets, bucketMs }: WireActivity): ChartData {
  const minutes = bucketMs / 60_000;
  return chartOf(buckets, bucketMs, (each) =>
    [each.complete, each.terminated, each.errored].map((count) => count / minutes),
  );
}

export function stepsPerMinute({ buckets, bucketMs }: WireActivity): ChartData {
  const minutes = bucketMs / 60_000;
  return chartOf(buckets, bucketMs, ({ steps, failedAttempts }) => [
    steps / minutes,
    failedAttempts / minutes,
  ]);
}

/** Of those that ended, in percent; the scale is always the whole. */
export function errorRate({ buckets, bucketMs }: WireActivity): ChartData {
  const { bars } = chartOf(buckets, bucketMs, (each) => {
    const ended = endedIn(each);
    return [ended === 0 ? 0 : (each.errored / ended) * 100];
  });
  return { bars, top: 100 };
}

export interface Totals {
  readonly ended: number;
  readonly errored: number;
  readonly steps: number;
  readonly failedAttempts: number;
}

export function totalsOf({ buckets }: WireActivity): Totals {
  return buckets.reduce(
    (sum, each) => ({
      ended: sum.ended + endedIn(each),
      errored: sum.errored + each.errored,
      steps: sum.steps + each.steps,
      failedAttempts: sum.failedAttempts + each.failedAttempts,
    }),
    { ended: 0, errored: 0, steps: 0, failedAttempts: 0 },
  );
}

function endedIn({ complete, errored, terminated }: WireActivityBucket): number {
  return complete + errored + terminated;
}

function chartOf(
  buckets: readonly WireActivityBucket[],
  bucketMs: number,
  partsOf: (bucket: WireActivityBucket) => readonly number[],
): ChartData {
  const bars = buckets.map((bucket) => {
    const at = Date.parse(bucket.at);
    return { at, until: at + bucketMs, parts: partsOf(bucket) };
  });
  return { bars, top: roundTop(Math.max(0, ...bars.map(({ parts }) => sumOf(parts)))) };
}

/** The next of 1, 2, 5, 10, 20, 50, ...: a scale that does not move with every bar. */
export function roundTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((each) => each * power >= most * (1 - 1e-9)) ?? 10;
  return step * power;
}

export function sumOf(parts: readonly number[]): number {
  return parts.reduce((sum, part) => sum + part, 0);
}
