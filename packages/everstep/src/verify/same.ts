/** Whether two records say the same. What is undefined counts as left out. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of keys) if (!same(left[key], right[key])) return false;
  return true;
}

/** The names among these whose values differ. */
export function differing<Of extends object, Name extends keyof Of>(
  a: Of,
  b: Of,
  names: readonly Name[],
): readonly Name[] {
  return names.filter((name) => !same(a[name], b[name]));
}
