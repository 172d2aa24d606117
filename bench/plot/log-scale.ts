/** From values to places on a line, each power of ten as wide as the next. */
export interface LogScale {
  /** Powers of ten from the one below the smallest to the one above the largest. */
  readonly ticks: readonly number[];
  /** From 0 to 1. */
  place(value: number): number;
}

export function logScale(values: readonly number[]): LogScale {
  // Half of the smallest, so that its bar can be seen.
  const low = Math.floor(Math.log10(Math.min(...values) / 2));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n)),
    place: (value) => Math.min(1, Math.max(0, (Math.log10(value) - low) / (high - low))),
  };
}
