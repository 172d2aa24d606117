import { EverstepError } from "../../model/error.ts";
import type { Page, PageQuery } from "../../store/index.ts";

/** A place in a list: the numbers by which it is ordered, most significant first, different for every item. */
export type Key = readonly number[];

/** One page of the items, ordered by their keys; the cursor is the key of the page's last item (INV-46). */
export function pageOf<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
  query: PageQuery,
  defaultOrder: "asc" | "desc" = "asc",
): Page<Item> {
  const sign = (query.order ?? defaultOrder) === "asc" ? 1 : -1;
  const compare = (a: Key, b: Key): number => sign * compareKeys(a, b);
  const after = query.after === undefined ? undefined : readCursor(query.after);
  const rest = [...items]
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || compare(key, after) > 0)
    .sort((a, b) => compare(a.key, b.key));
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const answer = { items: page.map(({ item }) => item) };
  return rest.length > page.length && last !== undefined ? { ...answer, after: last.key.join(".") } : answer;
}

function compareKeys(a: Key, b: Key): number {
  for (const [place, number] of a.entries()) {
    const difference = number - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readCursor(cursor: string): Key {
  if (!/^-?\d{1,16}(\.-?\d{1,16})*$/.test(cursor)) {
    throw new EverstepError("INVALID_CURSOR", `"${cursor}" is not a cursor that this store has given.`);
  }
  return cursor.split(".").map(Number);
}
