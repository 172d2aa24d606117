/** Places in paged lists: numbers as texts of fixed length, so that the order of texts is the order of numbers. */
import type { RunId } from "../../../model/instance.ts";
import { position as cursor } from "../../../store/position.ts";

export { page as pageOf, position as cursor, readPosition as readCursor } from "../../../store/position.ts";

/** In the order of creation times, those before 1970 included. */
export function timeOrder(time: number): string {
  return time < 0 ? `0${wide(Number.MAX_SAFE_INTEGER + time)}` : `1${wide(time)}`;
}

export function placeTime(place: string): number {
  const time = Number(place.slice(1, 17));
  return place.startsWith("0") ? time - Number.MAX_SAFE_INTEGER : time;
}

/** The number of the instance, which is that of its first run. */
export function serialOf(place: string): number {
  return Number(place.slice(17));
}

/** What the caller hands back for a place in the list of instances. */
export function placeCursor(place: string): string {
  return cursor(placeTime(place), serialOf(place));
}

export function wide(number: number): string {
  return String(number).padStart(16, "0");
}

/** Runs are numbered here; a number that came back as text is still good, and nonsense finds no run. */
export function runName(runId: RunId): string {
  const name = String(runId);
  return /^[1-9]\d{0,15}$/.test(name) ? name : "0";
}
