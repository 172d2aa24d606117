/** For lists that hold nothing or one most of the time: an empty one is shared, and one of one takes no more than it needs. */

export const none: readonly never[] = Object.freeze([]);

/** The list with the item behind; a list with something in it is filled further. */
export function added<Item>(list: readonly Item[], item: Item): readonly Item[] {
  if (list.length === 0) return [item];
  (list as Item[]).push(item);
  return list;
}

/** The list without the item; null when it is not in it. */
export function taken<Item>(list: readonly Item[], item: Item): readonly Item[] | null {
  if (list.length === 1) return list[0] === item ? none : null;
  const at = list.indexOf(item);
  return at < 0 ? null : list.toSpliced(at, 1);
}
