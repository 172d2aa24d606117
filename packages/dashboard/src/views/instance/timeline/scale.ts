/** From time to place and back. Long waits may be cut short; then the scale is a chain of pieces. */
import { lengthOf, type Span, subtract, totalOf } from "./spans.ts";

export interface Piece extends Span {
  /** Where it begins and ends, from 0 to 1 over the whole. */
  readonly begin: number;
  readonly end: number;
  /** Cut short. */
  readonly isBreak: boolean;
}

export interface Scale extends Span {
  readonly pieces: readonly Piece[];
  placeOf(time: number): number;
  timeAt(place: number): number;
}

/** A wait that is this many times longer than everything else hides it when drawn to scale. */
const dwarfs = 20;
/** Shorter waits are never worth a break. */
const breakMsMin = 100;

export function makeScale(whole: Span, breaks: readonly Span[] = []): Scale {
  const all: Span = { from: whole.from, to: Math.max(whole.to, whole.from + 1) };
  const plain = subtract([all], breaks);
  const plainMs = Math.max(1, totalOf(plain));
  const plainShare = shareOfWork(plain, plainMs, breaks.length);
  const weights = breaks.reduce((sum, span) => sum + weightOf(span), 0);
  const shareOf = (span: Span & { readonly isBreak: boolean }): number =>
    span.isBreak ? (weightOf(span) / weights) * (1 - plainShare) : (lengthOf(span) / plainMs) * plainShare;
  const ordered = [
    ...plain.map((span) => ({ ...span, isBreak: false })),
    ...breaks.map((span) => ({ ...span, isBreak: true })),
  ].sort((a, b) => a.from - b.from);
  let drawn = 0;
  const pieces = ordered.map((span, n) => {
    const begin = drawn;
    drawn = n === ordered.length - 1 ? 1 : drawn + shareOf(span);
    return { ...span, begin, end: drawn };
  });
  return {
    ...all,
    pieces,
    placeOf(time) {
      const piece = pieces[lastIndex(pieces, (each) => each.from <= time)] as Piece;
      return piece.begin + ((time - piece.from) / lengthOf(piece)) * (piece.end - piece.begin);
    },
    timeAt(place) {
      const piece = pieces[lastIndex(pieces, (each) => each.begin <= place)] as Piece;
      return piece.from + ((place - piece.begin) / (piece.end - piece.begin)) * lengthOf(piece);
    },
  };
}

/**
 * What all work gets of the width where waits are cut short: enough to be seen, and no more than a little for each millisecond.
 * An attempt of 3 ms is no slab because the rest was waiting.
 */
function shareOfWork(plain: readonly Span[], plainMs: number, breakCount: number): number {
  if (breakCount === 0) return 1;
  if (plain.length === 0) return 0;
  const least = Math.min(0.3, 0.012 * plain.length);
  return Math.min(0.6, Math.max(least, 0.0015 * plainMs));
}

/** A longer wait is wider than a shorter one, though not by as much as it is longer. */
function weightOf(span: Span): number {
  return Math.log2(2 + lengthOf(span) / 1000);
}

/** The last that is so; the first when none is. Those that are so come first. */
function lastIndex(pieces: readonly Piece[], isSo: (piece: Piece) => boolean): number {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isSo(pieces[middle] as Piece)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The stretches worth cutting short: nothing worked, for longer than all work together. Where several waits follow
 * each other, each is cut by itself. `edges` are the times at which something began or ended.
 */
export function breaksIn(whole: Span, work: readonly Span[], edges: readonly number[]): readonly Span[] {
  const quiet = subtract([whole], work);
  const limit = Math.max(breakMsMin, totalOf(work));
  const ordered = [...edges].sort((a, b) => a - b);
  return quiet.flatMap((span) => (lengthOf(span) <= limit ? [] : cutAt(span, ordered, limit)));
}

/** Between two edges each; short ones in a row count together. */
function cutAt({ from, to }: Span, edges: readonly number[], limit: number): readonly Span[] {
  const cuts: Span[] = [];
  const add = (span: Span): void => {
    if (lengthOf(span) > limit) cuts.push(span);
  };
  let begin = from;
  let last = from;
  for (const edge of [...edges.filter((each) => each > from && each < to), to]) {
    if (edge - last > limit) {
      add({ from: begin, to: last });
      add({ from: last, to: edge });
      begin = edge;
    }
    last = edge;
  }
  add({ from: begin, to });
  return cuts;
}

/** Whether some wait would hide the work if everything were drawn to scale. */
export function isDwarfed(whole: Span, breaks: readonly Span[]): boolean {
  const rest = Math.max(1, lengthOf(whole) - totalOf(breaks));
  return breaks.some((span) => lengthOf(span) > dwarfs * rest);
}
