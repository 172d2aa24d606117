/** Places in paged lists: numbers as texts of fixed length, so that the order of texts is the order of numbers. */
import { position as cursor } from "../../store/position.ts";

export { page as pageOf, position as cursor, readPosition as readCursor } from "../../store/position.ts";

/** In the order of creation times, those before 1970 included. */
export function timeOrder(time: number): string {
  return time < 0 ? `0${wide(Number.MAX_SAFE_INTEGER + time)}` : `1${wide(time)}`;
}

/** What the caller hands back for a place in the list of instances. */
export function placeCursor(place: string): string {
  const time = Number(place.slice(1, 17));
  return cursor(place.startsWith("0") ? time - Number.MAX_SAFE_INTEGER : time, Number(place.slice(17)));
}

export function wide(number: number): string {
  return String(number).padStart(16, "0");
}
