/** Where a card goes so that it is seen whole: under what it tells of, else above it. */

export interface Box {
  readonly width: number;
  readonly height: number;
}

export interface Anchor {
  /** Where on the screen. */
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

const gap = 8;

export function cardPlace(
  anchor: Anchor,
  card: Box,
  screen: Box,
): { readonly left: number; readonly top: number } {
  const left = clamp(anchor.x - card.width / 2, gap, screen.width - card.width - gap);
  const below = anchor.bottom + gap;
  const above = anchor.top - gap - card.height;
  const fitsBelow = below + card.height + gap <= screen.height;
  const top = fitsBelow || above < gap ? below : above;
  return { left, top: clamp(top, gap, screen.height - card.height - gap) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
