/** A place in a keyset-paged list: the numbers of the last row's key, as text that callers only hand back. */
import { EverstepError } from "../model/error.ts";

export function position(...key: readonly number[]): string {
  return key.join(".");
}

export function readPosition(text: string, parts: number): number[] {
  const key = text.split(".").map((part) => (/^-?\d{1,16}$/.test(part) ? Number(part) : Number.NaN));
  if (key.length !== parts || !key.every(Number.isSafeInteger)) {
    throw new EverstepError(
      "INVALID_CURSOR",
      `${JSON.stringify(text.slice(0, 80))} is not a place in this list. Pass the cursor of the page before it, unchanged.`,
    );
  }
  return key;
}

/** Cuts the page from rows of which one more than `limit` was asked for. */
export function page<Row, Item>(
  rows: readonly Row[],
  limit: number,
  read: (row: Row) => Item,
  place: (row: Row) => string,
): { readonly items: readonly Item[]; readonly after?: string } {
  const shown = rows.slice(0, limit);
  const items = shown.map(read);
  const last = shown.at(-1);
  return rows.length > limit && last !== undefined ? { items, after: place(last) } : { items };
}
