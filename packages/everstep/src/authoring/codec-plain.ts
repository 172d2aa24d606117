import { tooLarge } from "./codec-errors.ts";
import { charsPerVisit, depthMax, visitsMax } from "./codec-limits.ts";

/** What is left of `visitsMax` for the value being looked at. */
let visitsLeft = 0;

/** The short way: whether JSON.stringify writes `value` without loss. PAYLOAD_TOO_LARGE when it goes on and on. */
export function isPlainJson(value: object, what: string): boolean {
  visitsLeft = visitsMax;
  let plain = false;
  try {
    plain = isPlainObject(value, depthMax);
  } catch {
    // A getter or proxy threw: the long way finds out where.
  }
  if (visitsLeft < 0) throw tooLarge(what);
  return plain;
}

function isPlain(value: unknown, room: number): boolean {
  switch (typeof value) {
    case "string":
      visitsLeft -= value.length / charsPerVisit;
      return visitsLeft >= 0;
    case "boolean":
      return true;
    case "number":
      return isJsonNumber(value);
    case "object":
      return value === null || isPlainObject(value, room);
    default:
      return false;
  }
}

// Everything unusual (another realm, no prototype, too deep, a toJSON) is left to the long way.
function isPlainObject(value: object, room: number): boolean {
  if (room === 0 || typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  if (Array.isArray(value)) return isPlainArray(value, room - 1);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    if (--visitsLeft < 0) return false;
    if (!isPlain((value as Record<string, unknown>)[key], room - 1)) return false;
  }
  return true;
}

function isPlainArray(values: readonly unknown[], room: number): boolean {
  visitsLeft -= values.length;
  if (visitsLeft < 0) return false;
  for (let index = 0; index < values.length; index++) {
    if (!isPlain(values[index], room)) return false;
  }
  return true;
}

/** JSON has no NaN, no infinities and no -0. */
export function isJsonNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : Number.isFinite(value);
}
