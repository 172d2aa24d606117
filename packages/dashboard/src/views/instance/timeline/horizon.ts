/** How far the drawing reaches while the instance goes on. */
import type { RunRows } from "./rows.ts";

/** Grows in leaps, so that what is drawn stays where it is, and the live edge moves through free room. */
const leap = 1.25;
const roomMs = 200;

export function horizonOf(origin: number, now: number): number {
  const span = Math.max(roomMs, (now - origin) * 1.02);
  return origin + Math.ceil(roomMs * leap ** Math.ceil(Math.log(span / roomMs) / Math.log(leap)));
}

/** The last time that open waits are to be over, that for its start included. */
export function plannedEnd({ rows, startsAt }: RunRows): number | null {
  let last = startsAt;
  for (const { segments } of rows) {
    for (const { to, due } of segments) if (to === null && due !== null) last = Math.max(last ?? due, due);
  }
  return last;
}

/** `edge` is the horizon. */
export function lastShown(run: RunRows, edge: number, isCompressed: boolean): number {
  if (run.endedAt !== null) return Math.max(run.endedAt, run.origin + 1);
  const planned = plannedEnd(run);
  if (planned === null || planned <= edge) return edge;
  // To scale, what is far ahead would leave no room for what was; of what has not started there is nothing else.
  return isCompressed || run.startedAt === null || planned - run.origin <= 3 * (edge - run.origin)
    ? planned
    : edge;
}
