/** Places in paged lists: numbers as texts of fixed length, so that the order of texts is the order of numbers. */
import { EverstepError } from "../../../model/error.ts";
import type { RunId } from "../../../model/instance.ts";

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

/** What the caller hands back for the next page. */
export function cursor(...key: readonly number[]): string {
  return key.join(".");
}

export function readCursor(text: string, parts: number): number[] {
  const key = text.split(".").map((part) => (/^-?\d{1,16}$/.test(part) ? Number(part) : Number.NaN));
  if (key.length !== parts || !key.every(Number.isSafeInteger)) {
    throw new EverstepError(
      "INVALID_CURSOR",
      `${JSON.stringify(text.slice(0, 80))} is not a place in this list. Pass the cursor of the page before it, unchanged.`,
    );
  }
  return key;
}

/** Cuts the page from items of which one more than `limit` was asked for. */
export function pageOf<Item, Shown>(
  items: readonly Item[],
  limit: number,
  show: (item: Item) => Shown,
  cursorOf: (item: Item) => string,
): { readonly items: readonly Shown[]; readonly after?: string } {
  const page = items.slice(0, limit);
  const shown = page.map(show);
  const last = page.at(-1);
  return items.length > limit && last !== undefined
    ? { items: shown, after: cursorOf(last) }
    : { items: shown };
}

/** Runs are numbered here; a number that came back as text is still good, and nonsense finds no run. */
export function runName(runId: RunId): string {
  const name = String(runId);
  return /^[1-9]\d{0,15}$/.test(name) ? name : "0";
}
