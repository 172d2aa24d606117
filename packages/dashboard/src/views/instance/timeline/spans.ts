/** Stretches of time, in epoch milliseconds. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

export function lengthOf({ from, to }: Span): number {
  return Math.max(0, to - from);
}

export function totalOf(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + lengthOf(span), 0);
}

/** The same time, in order, and nothing twice. */
export function union(spans: readonly Span[]): readonly Span[] {
  const ordered = spans.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of ordered) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** What is in the first and not in the second. Both as `union` gives them. */
export function subtract(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  const left: Span[] = [];
  let at = 0;
  for (const { from, to } of spans) {
    let begin = from;
    while (at < taken.length && (taken[at] as Span).to <= begin) at++;
    for (let next = at; next < taken.length; next++) {
      const hole = taken[next] as Span;
      if (hole.from >= to) break;
      if (hole.from > begin) left.push({ from: begin, to: hole.from });
      begin = Math.max(begin, hole.to);
    }
    if (begin < to) left.push({ from: begin, to });
  }
  return left;
}

/** The part of each that is within. */
export function within(spans: readonly Span[], { from, to }: Span): readonly Span[] {
  return spans
    .filter((span) => span.to > from && span.from < to)
    .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }));
}
