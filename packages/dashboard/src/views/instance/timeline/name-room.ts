/** How wide the column of names wants to be: the longest name, with what stands beside it. */
import type { Row } from "./rows.ts";

const letterPx = 7.8;
const indentPx = 16;
/** The signs before a name, how often it was tried, how it is and how long it took. */
const besidePx = 240;
/** Grows in steps, so that the bars do not move with every step that begins. */
const stepPx = 40;

export function wantedNameRoom(rows: readonly Pick<Row, "name" | "depth">[]): number {
  const longest = rows.reduce(
    (most, { name, depth }) => Math.max(most, name.length * letterPx + Math.min(depth, 6) * indentPx),
    0,
  );
  return Math.ceil((besidePx + longest) / stepPx) * stepPx;
}
