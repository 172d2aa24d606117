/** The built-in an object really is. Symbol.toStringTag is anybody's claim, so the claim is tried out. */
export function builtinTag(value: object): string {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const probe = probes.get(tag);
  if (probe === undefined) return tag;
  try {
    probe(value);
    return tag;
  } catch {
    return "Object";
  }
}

const probes: ReadonlyMap<string, (value: unknown) => unknown> = new Map<string, (value: unknown) => unknown>(
  [
    ["Date", (value) => Date.prototype.getTime.call(value)],
    ["Map", (value) => Map.prototype.has.call(value as Map<unknown, unknown>, undefined)],
    ["Set", (value) => Set.prototype.has.call(value as Set<unknown>, undefined)],
    ["RegExp", (value) => regExpSource.call(value)],
    ["ArrayBuffer", (value) => ArrayBuffer.prototype.slice.call(value as ArrayBuffer, 0, 0)],
    ["Number", (value) => unbox(value, "Number")],
    ["String", (value) => unbox(value, "String")],
    ["Boolean", (value) => unbox(value, "Boolean")],
    ["BigInt", (value) => unbox(value, "BigInt")],
  ],
);

const regExpSource = getterOf(RegExp.prototype, "source");
/** The name of the typed array a view is, whatever it claims; undefined for a DataView. */
export const typedArrayName = getterOf(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) as (
  this: unknown,
) => string | undefined;

function getterOf(prototype: object, key: PropertyKey): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, key)?.get as (this: unknown) => unknown;
}

export function unbox(value: unknown, tag: "Number" | "String" | "Boolean" | "BigInt"): unknown {
  switch (tag) {
    case "Number":
      return Number.prototype.valueOf.call(value);
    case "String":
      return String.prototype.valueOf.call(value);
    case "Boolean":
      return Boolean.prototype.valueOf.call(value);
    case "BigInt":
      return BigInt.prototype.valueOf.call(value);
  }
}

/** An object an author wrote as a literal, here or in another realm, or one without prototype. */
export function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isForeignObjectPrototype(prototype);
}

// Object.prototype of another realm (an iframe, a vm context, a test runner's sandbox).
function isForeignObjectPrototype(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && prototype.constructor?.name === "Object";
}

export function constructorName(value: object): string | undefined {
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? name : undefined;
}
