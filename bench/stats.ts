/** Numbers out of samples. */

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(samples: readonly number[]): Summary {
  const sorted = inOrder(samples);
  return { median: median(sorted), min: sorted.at(0) ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

export function median(samples: readonly number[]): number {
  const sorted = inOrder(samples);
  const middle = sorted.length / 2;
  const above = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? above) + above) / 2 : above;
}

/** The smallest sample that at least this share of all samples does not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = inOrder(samples);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function inOrder(samples: readonly number[]): readonly number[] {
  return [...samples].sort((a, b) => a - b);
}
