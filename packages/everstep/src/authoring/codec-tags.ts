import { fromBase64 } from "./codec-bytes.ts";
import { defineHidden, defineListed, errorFieldNames, newError } from "./error-object.ts";
import { sensitiveTag } from "./sensitive.ts";

/** The closed set of tags. Each reviver throws when the JSON it finds is not what its writer writes. */
export const revivers: ReadonlyMap<string, (json: unknown) => unknown> = new Map<
  string,
  (json: unknown) => unknown
>([
  ["undefined", (json) => fromNull(json, undefined)],
  ["NaN", (json) => fromNull(json, Number.NaN)],
  ["Infinity", (json) => fromNull(json, Number.POSITIVE_INFINITY)],
  ["-Infinity", (json) => fromNull(json, Number.NEGATIVE_INFINITY)],
  ["-0", (json) => fromNull(json, -0)],
  ["BigInt", (json) => reviveBigInt(text(json))],
  ["Date", (json) => reviveDate(json)],
  ["Map", (json) => new Map(list(json).map(pair))],
  ["Set", (json) => new Set(list(json))],
  ["RegExp", (json) => reviveRegExp(text(json))],
  ["URL", (json) => new URL(text(json))],
  ["Boxed", (json) => box(json)],
  [sensitiveTag, (value) => value],
  ["Error", (json) => reviveError(json)],
  ["ArrayBuffer", (json) => fromBase64(text(json)).buffer],
  ["DataView", (json) => new DataView(fromBase64(text(json)).buffer)],
  ...[
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
  ].map((name) => [name, (json: unknown) => reviveTypedArray(name, text(json))] as const),
]);

function fromNull<Value>(json: unknown, value: Value): Value {
  if (json !== null) throw new TypeError("expected null");
  return value;
}

function text(json: unknown): string {
  if (typeof json !== "string") throw new TypeError("expected text");
  return json;
}

function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new TypeError("expected a list");
  return json;
}

function pair(json: unknown): [unknown, unknown] {
  const items = list(json);
  if (items.length !== 2) throw new TypeError("expected a pair");
  return [items[0], items[1]];
}

function reviveBigInt(digits: string): bigint {
  if (!/^-?\d+$/.test(digits)) throw new TypeError("expected digits");
  return BigInt(digits);
}

function reviveDate(json: unknown): Date {
  if (json === null) return new Date(Number.NaN);
  const date = new Date(text(json));
  if (Number.isNaN(date.getTime())) throw new TypeError("expected a date");
  return date;
}

function reviveRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf("/");
  if (end < 1 || !literal.startsWith("/")) throw new TypeError("expected /source/flags");
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

const boxable: ReadonlySet<string> = new Set(["string", "number", "boolean", "bigint"]);

function box(json: unknown): object {
  if (!boxable.has(typeof json)) throw new TypeError("expected a primitive");
  return Object(json);
}

function reviveTypedArray(name: string, base64: string): unknown {
  const TypedArray = (globalThis as Record<string, unknown>)[name] as
    | (new (
        buffer: ArrayBuffer,
      ) => unknown)
    | undefined;
  if (TypedArray === undefined) throw new TypeError(`${name} does not exist here`);
  return new TypedArray(fromBase64(base64).buffer);
}

function reviveError(json: unknown): Error {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new TypeError("expected an object");
  const { name, message, stack, ...others } = json as Record<string, unknown>;
  const error = newError(text(name), text(message), stack === undefined ? undefined : text(stack));
  for (const [key, value] of Object.entries(others)) {
    if (errorFieldNames.has(key)) defineHidden(error, key, value);
    else defineListed(error, key, value);
  }
  return error;
}
