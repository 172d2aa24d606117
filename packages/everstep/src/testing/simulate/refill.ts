/** Puts these entries in the place of all others. */
export function refill<Key, Value>(map: Map<Key, Value>, entries: Iterable<readonly [Key, Value]>): void {
  const kept = [...entries];
  map.clear();
  for (const [key, value] of kept) map.set(key, value);
}
