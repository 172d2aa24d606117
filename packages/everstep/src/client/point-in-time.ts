import { EverstepError } from "../model/error.ts";

/** A time as callers give it, in epoch milliseconds. */
export function pointInTime(value: unknown, name: string): number {
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time === "number" && Number.isInteger(time) && Math.abs(time) <= timeMax) return time;
  const shown =
    value instanceof Date ? "an invalid Date" : typeof value === "object" ? "an object" : String(value);
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${name} is ${shown}; it must be a Date or a whole number of milliseconds since 1970.`,
  );
}

/** The last one that a Date can hold. */
const timeMax = 8_640_000_000_000_000;
