import type { Schema } from "../wire/schema.ts";

/**
 * What JSON shows of a value that may be more than JSON: a Date as its ISO text, a Map as its entries, a BigInt as its
 * digits. For people and programs that look; the store keeps the value itself.
 */
export function jsonView(value: unknown): unknown {
  return view(value, []);
}

/** The same for what a schema describes, whose times become text. */
export function jsonOf<Value, View>(_schema: Schema<Value, View>, value: View): Value {
  return jsonView(value) as Value;
}

function view(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "undefined":
      return null;
    case "function":
    case "symbol":
      return String(value);
    case "object":
      return value === null ? null : viewObject(value, above);
    default:
      return value;
  }
}

function viewObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  const path = [...above, value];
  if (Array.isArray(value)) return Array.from(value, (item) => view(item, path));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (value instanceof Map) return [...value].map((entry) => entry.map((part) => view(part, path)));
  if (value instanceof Set) return [...value].map((item) => view(item, path));
  if (value instanceof Error) return viewError(value, path);
  if (value instanceof ArrayBuffer) return base64(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) return viewBytes(value);
  // An own property named __proto__ stays one.
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, view(item, path)]));
}

function viewError({ name, message, cause, ...others }: Error, path: readonly object[]): unknown {
  const known = cause === undefined ? { name, message } : { name, message, cause: view(cause, path) };
  return { ...(viewObject(others, path) as object), ...known };
}

function viewBytes(value: ArrayBufferView): unknown {
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof DataView)
    return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return Array.from(value as unknown as ArrayLike<number | bigint>, (item) => view(item, []));
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
