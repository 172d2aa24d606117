import type { EncodedValue } from "../model/value.ts";
import { utf8Bytes } from "./codec-bytes.ts";
import { tooManyBytes } from "./codec-errors.ts";
import { visitsMax } from "./codec-limits.ts";
import { isJsonNumber, isPlainJson } from "./codec-plain.ts";
import { parseStored, reviveMarks } from "./codec-revive.ts";
import { Writer } from "./codec-write.ts";

/*
 * How values become text and come back.
 *
 * Everything JSON can say is JSON. What JSON would lose is written in its most readable JSON form, and `marks` lists
 * beside it, children before parents, where to look and what it was: [[["paidAt"], "Date"], [["tags"], "Set"]].
 * A path names keys and indexes of the JSON text, so no key of the value can be mistaken for a mark.
 *
 * Kept as structuredClone keeps them: subclasses of Array, Map, Uint8Array (Buffer), Error, ... become the built-in they
 * extend; objects without prototype become plain ones; symbol keys, non-enumerable properties and named properties of
 * arrays are left out. Kept differently: a value that is reachable twice is written twice, cycles are refused, a class
 * instance is refused instead of losing its class, and toJSON is never called. Typed arrays are written as
 * little-endian bytes.
 */

/** Text up to this length is written without asking whether it can be. */
const shortText = 1024 * 1024;

/** Text for a value, or VALUE_NOT_SERIALIZABLE naming the place inside `what` that cannot be kept. */
export function encodeValue(value: unknown, what: string): EncodedValue {
  switch (typeof value) {
    case "undefined":
      return encodedUndefined;
    case "boolean":
      return value ? encodedTrue : encodedFalse;
    case "string":
      return value.length <= shortText
        ? { json: JSON.stringify(value), marks: null }
        : encodeRich(value, what);
    case "number":
      return isJsonNumber(value) ? { json: String(value), marks: null } : encodeRich(value, what);
    case "object":
      return value === null ? encodedNull : encodeObject(value, what);
    default:
      return encodeRich(value, what);
  }
}

/** The value again, new and detached from everything; HISTORY_UNREADABLE when the text is not what `encodeValue` wrote. */
export function decodeValue(encoded: EncodedValue): unknown {
  if (encoded.marks === null) return parseStored(encoded.json);
  if (encoded.marks === encodedUndefined.marks && encoded.json === "null") return undefined;
  return reviveMarks(parseStored(encoded.json), encoded.marks);
}

/** What a reader who knows only JSON sees: dates as text, maps as lists of pairs, undefined as null. */
export function jsonView(encoded: EncodedValue): unknown {
  return parseStored(encoded.json);
}

/** Like `encodeValue`, but undefined for a value that cannot be kept or takes more than `maxBytes`; never slow. */
export function encodeSmall(value: unknown, maxBytes: number): EncodedValue | undefined {
  try {
    // Every value takes at least one byte, so a walk over more values than bytes cannot fit.
    const encoded = new Writer("value", maxBytes, maxBytes).encode(value);
    return encodedBytes(encoded) <= maxBytes ? encoded : undefined;
  } catch {
    return undefined;
  }
}

/** UTF-8 bytes of the stored text. */
export function encodedBytes(encoded: EncodedValue): number {
  return utf8Bytes(encoded.json) + (encoded.marks === null ? 0 : utf8Bytes(encoded.marks));
}

/** PAYLOAD_TOO_LARGE when the stored text takes more than `maxBytes`. */
export function checkBytes(encoded: EncodedValue, maxBytes: number, what: string): void {
  const chars = encoded.json.length + (encoded.marks === null ? 0 : encoded.marks.length);
  if (chars * 3 <= maxBytes) return;
  const bytes = encodedBytes(encoded);
  if (bytes <= maxBytes) return;
  throw tooManyBytes(what, bytes, maxBytes);
}

const encodedUndefined: EncodedValue = Object.freeze({ json: "null", marks: '[[[],"undefined"]]' });
const encodedNull: EncodedValue = Object.freeze({ json: "null", marks: null });
const encodedTrue: EncodedValue = Object.freeze({ json: "true", marks: null });
const encodedFalse: EncodedValue = Object.freeze({ json: "false", marks: null });

// The short way for what JSON.stringify writes without loss, which is nearly everything; the long way for the rest.
function encodeObject(value: object, what: string): EncodedValue {
  const json = isPlainJson(value, what) ? stringify(value) : undefined;
  return json === undefined ? encodeRich(value, what) : { json, marks: null };
}

function encodeRich(value: unknown, what: string): EncodedValue {
  return new Writer(what, visitsMax, Number.POSITIVE_INFINITY).encode(value);
}

function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // Too long for a text, or a getter that answers once and then throws: the long way finds out.
    return undefined;
  }
}
