/** What is drawn of a row, in pixels. Only what is seen of it. */
import type { Row } from "./rows.ts";
import type { Scale } from "./scale.ts";
import { asOf, type Outcome, type SegmentKind } from "./segments.ts";
import type { ViewRange } from "./view-range.ts";

/** How times are placed on the screen now. */
export interface Frame {
  readonly width: number;
  /** Where the end of what is seen is: a little before the edge, so that what is short there can be seen too. */
  readonly inner: number;
  xOf(time: number): number;
  timeAt(x: number): number;
  /** Of a place on the scale. */
  leftOf(place: number): number;
  /** Where bars are cut: the middles of the breaks. */
  readonly cuts: readonly number[];
}

/** A break that is narrower is not marked. */
const breakWidthMin = 14;

/** As in timeline.css. */
export const rightRoom = 12;

export function innerOf(width: number): number {
  return Math.max(0, width - rightRoom);
}

export function frameOf(scale: Scale, { begin, end }: ViewRange, width: number): Frame {
  const inner = innerOf(width);
  const leftOf = (place: number): number => ((place - begin) / (end - begin)) * inner;
  return {
    width,
    inner,
    leftOf,
    xOf: (time) => leftOf(scale.placeOf(time)),
    timeAt: (x) => scale.timeAt(begin + (x / inner) * (end - begin)),
    cuts: scale.pieces.flatMap((piece) => {
      const left = leftOf(piece.begin);
      const right = leftOf(piece.end);
      return piece.isBreak && right - left >= breakWidthMin ? [(left + right) / 2] : [];
    }),
  };
}

export interface Block {
  readonly kind: SegmentKind | "planned";
  readonly outcome: Outcome;
  readonly left: number;
  readonly width: number;
  /** It grows with the time. */
  readonly isLive: boolean;
  readonly cutOff: number;
}

/** Even what took no time at all can be seen. */
export const widthMin = 4;
const failedWidthMin = 6;
const outside = 16;

export function blocksOf(row: Row, frame: Frame, now: number): readonly Block[] {
  const blocks: Block[] = [];
  for (const { kind, from, to, due, outcome, cutOff } of asOf(row.segments, now)) {
    const isLive = outcome === "open";
    // What grows covers it, wherever its end is by then.
    const plannedFrom = isLive ? from : to;
    if (due !== null && due > to)
      add({ kind: "planned", outcome, isLive: false, cutOff: 0 }, plannedFrom, due);
    add({ kind, outcome, isLive, cutOff }, from, to);
  }
  return blocks;

  function add(block: Omit<Block, "left" | "width">, from: number, to: number): void {
    const left = frame.xOf(from);
    const right = frame.xOf(to);
    const least = block.kind === "attempt" && block.outcome === "failed" ? failedWidthMin : widthMin;
    // What is live may yet come into sight.
    if (left > frame.width + outside || (Math.max(right, left + least) < -outside && !block.isLive)) return;
    const isInSight = left >= 0 && left <= frame.inner;
    // What begins in sight is drawn in sight, however short it is.
    const seenLeft = isInSight ? Math.min(left, frame.width - least) : Math.max(left, -outside);
    const width = Math.max(least, Math.min(right, frame.width + outside) - seenLeft);
    blocks.push({ ...block, left: seenLeft, width });
  }
}
