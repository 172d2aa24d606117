import type { EncodedValue } from "../model/value.ts";

/** Stands where a value is that was not asked for. */
export const unreadValue: EncodedValue = Object.freeze({ json: "null", marks: null });
