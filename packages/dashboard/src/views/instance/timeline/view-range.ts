/** The part of the scale that is seen, from 0 to 1, and how it is zoomed and moved. */

export interface ViewRange {
  readonly begin: number;
  readonly end: number;
}

export const wholeRange: ViewRange = { begin: 0, end: 1 };

export function isWhole({ begin, end }: ViewRange): boolean {
  return begin <= 0 && end >= 1;
}

/** Smaller is closer. What is at `around` stays there. */
export function zoomed(range: ViewRange, factor: number, around: number, sizeMin: number): ViewRange {
  const size = range.end - range.begin;
  const next = Math.min(1, Math.max(sizeMin, size * factor));
  const share = size === 0 ? 0.5 : (around - range.begin) / size;
  return held({ begin: around - share * next, end: around + (1 - share) * next });
}

/** By a share of what is seen. */
export function moved(range: ViewRange, share: number): ViewRange {
  const by = share * (range.end - range.begin);
  return held({ begin: range.begin + by, end: range.end + by });
}

export function between(a: number, b: number, sizeMin: number): ViewRange {
  const begin = Math.min(a, b);
  return held({ begin, end: Math.max(begin + sizeMin, a, b) });
}

/** Not beyond the ends, and as large as before. */
function held({ begin, end }: ViewRange): ViewRange {
  const size = Math.min(1, end - begin);
  const first = Math.min(Math.max(0, begin), 1 - size);
  return { begin: first, end: first + size };
}
