/**
 * A result that is for the workflow alone. It is marked where it is stored, so that whoever shows what is recorded knows,
 * whichever code runs by then; what it is, is not encrypted.
 */
import type { EncodedValue } from "../model/value.ts";

/** The tag of such a value, always the last of its marks. */
export const sensitiveTag = "Sensitive";

const mark = `[[],"${sensitiveTag}"]`;

export function markSensitive({ json, marks }: EncodedValue): EncodedValue {
  return { json, marks: marks === null ? `[${mark}]` : `${marks.slice(0, -1)},${mark}]` };
}

export function isSensitive({ marks }: EncodedValue): boolean {
  return marks?.endsWith(`${mark}]`) ?? false;
}

/** What is shown in its place, where a value there must be. */
export const hiddenValue: EncodedValue = Object.freeze({ json: "null", marks: `[${mark}]` });
