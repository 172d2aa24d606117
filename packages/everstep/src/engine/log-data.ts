import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { EncodedValue } from "../model/value.ts";

/** A log line must never fail a workflow: what cannot be kept of its data is replaced by the reason. */
export function encodeLogData(data: unknown, maxBytes: number): EncodedValue | null {
  if (data === undefined) return null;
  try {
    const encoded = encodeValue(data, "log data");
    checkBytes(encoded, maxBytes, "log data");
    return encoded;
  } catch (error) {
    return encodeValue({ dropped: error instanceof Error ? error.message : String(error) }, "log data");
  }
}
