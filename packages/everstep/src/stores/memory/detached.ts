/**
 * A frozen copy of plain data. Everything is copied on its way in, so what the store hands out can be shared: nobody
 * holds a reference through which a stored record could change.
 */
export function detached<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map(detached)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, detached(part)]));
  return Object.freeze(copy) as Value;
}
