import { decodeValue, encodeValue } from "../authoring/codec.ts";

/**
 * A copy of what a caller passed, for a schema that may take its time. What cannot be stored cannot be copied either; the schema
 * may still make something of it that can.
 */
export function snapshotOf(value: unknown): unknown {
  try {
    return decodeValue(encodeValue(value, "value"));
  } catch {
    return value;
  }
}
